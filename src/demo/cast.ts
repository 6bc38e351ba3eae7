/** Whom the demo's history is about: members of the forum, and the shops with what they sell. */

/** `joined`: how many days before the demo. */
export const MEMBERS = [
  { username: 'linxi', name: '林夕', trust_level: 3, joined: 694 },
  { username: 'momo', name: '沈墨', trust_level: 2, joined: 612 },
  { username: 'chenyu', name: '陈宇', trust_level: 2, joined: 571 },
  { username: 'qiuqiu', name: '球球', trust_level: 1, joined: 333 },
  { username: 'baiyu', name: '白羽', trust_level: 2, joined: 488 },
  { username: 'zhouye', name: '周野', trust_level: 2, joined: 402 },
  { username: 'hana', name: 'Hana Sato', trust_level: 2, joined: 455 },
  { username: 'oliver', name: 'Oliver Grant', trust_level: 3, joined: 671 },
  { username: 'nina', name: 'Nina Petrova', trust_level: 2, joined: 298 },
  { username: 'tomas', name: 'Tomás Silva', trust_level: 1, joined: 187 },
  { username: 'maya', name: 'Maya Chen', trust_level: 2, joined: 241 },
  { username: 'leo', name: 'Leo Fischer', trust_level: 1, joined: 96 },
] as const

/** They joined while the history ran, and have bought nothing yet. */
export const NEWCOMERS = [
  { username: 'yoyo', name: '尤尤', trust_level: 0, joined: 19 },
  { username: 'pixel', name: 'Pia Lindqvist', trust_level: 0, joined: 8 },
  { username: 'xiaoman', name: '小满', trust_level: 0, joined: 2 },
] as const

export type MemberName = (typeof MEMBERS)[number]['username']

/** What a shop sells. `money` is the price at the gateway, in the shop's currency. */
export type Product = { name: string; amount: bigint; money?: string }

/** The shops. Those of bob also run as programs, and the others have orders only. */
export const SHOPS = {
  sticker: {
    owner: 'bob',
    products: [
      { name: 'Sticker pack', amount: 120n },
      { name: 'Cat stickers, set 3', amount: 60n },
      { name: 'Holographic star', amount: 40n },
    ],
  },
  mug: {
    owner: 'bob',
    products: [
      { name: 'Mug', amount: 990n, money: '9.90' },
      { name: 'Tea mug', amount: 590n, money: '5.90' },
      { name: 'Coaster', amount: 120n, money: '1.20' },
    ],
  },
  cat: {
    owner: 'momo',
    name: '猫爪小铺',
    description: '手绘猫咪周边：贴纸、明信片和鼠标垫',
    products: [
      { name: '猫爪贴纸', amount: 80n },
      { name: '猫爪明信片一套', amount: 45n },
      { name: '猫爪鼠标垫', amount: 260n },
    ],
  },
  library: {
    owner: 'oliver',
    name: 'Night Library',
    description: 'Books and a reading room for those who stay up late',
    products: [
      { name: 'A book for a week', amount: 30n },
      { name: 'Monthly pass', amount: 200n },
      { name: 'Reading room, one night', amount: 15n },
    ],
  },
} as const satisfies Record<
  string,
  { owner: 'bob' | MemberName; name?: string; description?: string; products: readonly Product[] }
>

export type ShopName = keyof typeof SHOPS

/** An application that waits for its review. */
export const WAITING = { owner: 'zhouye', name: '手冲咖啡', description: '每周烘焙的单品咖啡豆' } as const

/** The pictures of members who have chosen one, by their names in examples/shop/portraits. */
export const PORTRAITS: Partial<Record<MemberName, string>> = {
  linxi: 'moon',
  momo: 'cat',
  chenyu: 'peaks',
  baiyu: 'wave',
  hana: 'flower',
  oliver: 'fox',
  maya: 'leaf',
}
