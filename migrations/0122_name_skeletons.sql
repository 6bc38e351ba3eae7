-- What a name looks like at a glance, so that a reviewer is shown the applications that could be taken for each other:
-- without case, width, accents, spaces and punctuation, and with the letters and digits most often used for others as those
-- others. Only compared, never shown. A modest fold: it points out, and refuses nothing.
create function name_skeleton(p_name text) returns text language sql immutable strict parallel safe as $$
  select coalesce(nullif(
    replace(replace(
      regexp_replace(
        lower(translate(
          -- By the same letters in every locale; the others are lowered where the locale can.
          lower(normalize(p_name, nfkd) collate "C"),
          'аАвВеЕкКмМнНоОрРсСтТуУхХіІјЈѕЅԁԛԝ' || 'αΑβΒεΕηΗιΙκΚμΜνΝοΟρΡτΤυΥχΧ' || '01i|ı5$@',
          'aabbeekkmmhhooppccttyyxxlljjssdqw' || 'aabbeehhllkkmmvnooppttyyxx' || 'ollllssa'
        ) collate "default"),
        '[\u0300-\u036f\s!-/:-@\[-`{-~\u00a0-\u00bf\u2000-\u206f\u3000-\u303f\ufe00-\ufe0f]', '', 'g'
      ),
      'rn', 'm'), 'vv', 'w'),
    ''), p_name)
$$;

create index payment_apps_name_skeleton on payment_apps (name_skeleton(name));
create index oauth_apps_name_skeleton on oauth_apps (name_skeleton(name));
