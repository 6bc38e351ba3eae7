/**
 * Refuses the passwords that attackers try first, as NIST SP 800-63B 5.1.1.2 asks. The commonest passwords of at least ten
 * characters are a word of this list with digits and signs behind it, a run over the keyboard, or one short text repeated.
 */

/** Words in lower case that lists of leaked passwords begin with. */
const WORDS = new Set(
  `password passw0rd p@ssword p@ssw0rd pa55word passwort motdepasse contraseña mypassword newpassword
   qwerty qwertyui qwertyuiop qwertyuiopasdf asdfgh asdfghjkl asdfghjklzxcvbnm zxcvbn zxcvbnm qwertyuiopasdfghjklzxcvbnm
   qwer qwerasdf qwerasdfzxcv asdf asdfqwer zxcv azerty azertyuiop qwertz qwertzuiop qazwsx qazwsxedc qazwsxedcrfv wsxedc
   abc abcd abcde abcdef abcdefg abcdefgh abcdefghi abcdefghij abcdefghijk abcdefghijkl abcdefghijklmnopqrstuvwxyz
   iloveyou iloveyouforever loveyou lovely loveme forever princess sunshine chocolate butterfly babygirl sweetheart
   football baseball basketball liverpool manchester barcelona superman batman spiderman starwars pokemon pikachu naruto
   dragon monkey master shadow killer michael jennifer jessica charlie jordan ashley daniel thomas andrew
   welcome letmein changeme changeit trustno trustnoone whatever computer internet samsung google facebook minecraft
   admin administrator root guest user username test tester testing default temp secret login hello helloworld
   summer winter spring autumn january september november december monday friday
   woaini wo5201314 woaiwoziji woaiwojia woaizhongguo aini nihao zhongguo beijing shanghai taobao tencent baidu
   wang wangwei zhang zhangwei liwei wanglei zhanglei a aa aaa q w z x zz qq qqq ww wo wy lv asd qwe qaz zxc zaq xyz aaaa
   correcthorsebatterystaple`.split(/\s+/),
)

/** Runs over a keyboard and counted digits. A password that is a part of one is refused, also when read backwards. */
const RUNS = [
  '01234567890123456789012345678901234567890',
  '1234567890-=',
  '!@#$%^&*()_+',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  'zaq12wsxcde34rfvbgt56yhn',
  '1qazxsw23edcvfr45tgbnhy6',
  "qwertyuiop[]asdfghjkl;'zxcvbnm,./",
  '1234qwerasdfzxcv',
  '123qweasdzxc',
  'qweasdzxc123',
  'qazwsxedcrfvtgbyhnujmikolp',
  'abcdefghijklmnopqrstuvwxyz',
  '147258369014725836901',
  '7894561230789456123',
]
const READ_BOTH_WAYS = RUNS.flatMap((run) => [run, [...run].reverse().join('')])

/** Texts that no rule above covers. */
const WHOLE = new Set(
  `1234567891 12345678910 123456789a 123456789q 1234567890a 1234567890q 12345qwert 123456abcd 123456qwerty 1234abcd1234
   5201314520 1314520520 13145201314 5211314521 1123581321 3141592653 31415926535 2718281828 0987654321 1029384756
   123654789a 123321123321 987654321a 1password1 1qaz@wsx3edc 1qaz!qaz2wsx p@$$w0rd123 123456password 123456789abc`.split(
    /\s+/,
  ),
)

/** A word, then digits and signs that add little: a year, a birthday, an exclamation mark. */
const WORD_AND_TAIL = /^(.*?\D)([\d!@#$%^&*()_+\-=.,?~]{0,10})$/u
/** One to four characters, again and again. */
const REPEATED = /^(.{1,4}?)\1+$/u

/** Whether a password is one that attackers try first. Letters count the same in both cases. */
export function isCommonPassword(password: string): boolean {
  const text = password.normalize('NFC').toLowerCase()
  if (WHOLE.has(text) || REPEATED.test(text) || READ_BOTH_WAYS.some((run) => run.includes(text))) return true
  const word = WORD_AND_TAIL.exec(text)?.[1]
  return WORDS.has(text) || (word !== undefined && WORDS.has(word))
}
