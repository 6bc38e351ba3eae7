-- Whether the member's wallet may be shown in the forum, while the setting forum_wallet is on.
alter table users add column shows_wallet_at_forum boolean not null default true;
