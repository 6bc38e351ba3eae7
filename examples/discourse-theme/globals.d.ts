/** What the forum gives each script of a theme. */
declare const settings: {
  service_url: string
  payment_url: string
  show_wallet: boolean
  show_tips: boolean
  show_payment_links: boolean
}
declare function themePrefix(key: string): string
