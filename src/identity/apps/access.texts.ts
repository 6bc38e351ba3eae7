// This room: OAuth applications: registration, owners’ pages, secrets, access rules, reviews.
// Verbs: registerApp, updateApp, suspendApp, addSecret, judgeSecret.
// Tables: oauth_apps, app_secrets.
// Clauses: spec/registry 1.1–1.4, 2.3, 3.1, 4.1–4.2.
/** Texts of the rules on groups and redirect addresses. */
import type { Texts } from '../../web/languages.ts'

export const access = {
  group: (name: string) => {
    const level = /^trust_level_([0-4])$/i.exec(name)?.[1]
    if (level !== undefined) return { en: `trust level ${level} and above`, zh: `信任等级 ${level} 及以上` }
    if (/^admins$/i.test(name)) return { en: 'administrators', zh: '管理员' }
    if (/^moderators$/i.test(name)) return { en: 'moderators', zh: '版主' }
    return { en: `the group ${name}`, zh: `用户组 ${name} ` }
  },
  redirectUriFaults: {
    too_long: { en: 'must have at most 2000 characters', zh: '最多 2000 个字符' },
    characters: {
      en: 'must be printable ASCII without spaces, quotes, angle brackets or backslashes',
      zh: '只能包含可打印的 ASCII 字符，不含空格、引号、尖括号和反斜杠',
    },
    not_absolute: {
      en: 'must be an absolute address such as https://example.org/callback',
      zh: '须为完整地址，例如 https://example.org/callback',
    },
    scheme: {
      en: 'must be https (http only for 127.0.0.1, [::1] and localhost; a scheme of your own needs a dot, as in com.example.app:/callback)',
      zh: '须为 https（仅 127.0.0.1、[::1] 和 localhost 可用 http；自定义协议须含点号，例如 com.example.app:/callback）',
    },
    query: { en: 'must have no query (?)', zh: '不能包含查询参数（?）' },
    fragment: { en: 'must have no fragment (#)', zh: '不能包含片段（#）' },
    user_name: { en: 'must have no user name or password (@)', zh: '不能包含用户名或密码（@）' },
    host: {
      en: 'must write its host as browsers do, without % and without other spellings of an IP address',
      zh: '主机名须与浏览器中的写法一致：不能含 %，也不能用 IP 地址的其他写法',
    },
    wildcard: {
      en: 'must have no wildcard (*), because addresses must match exactly',
      zh: '不能包含通配符（*），地址必须完全一致',
    },
  },
} satisfies Texts
