-- Applications that are not suspended, with their secrets, to authenticate clients. The reader's clock decides whether a secret
-- has expired.
create or replace function clients_with_secrets(p_client_ids text[]) returns table (
  id bigint, client_id text, redirect_uris text[], allow_groups text[], deny_groups text[],
  id_token_signed_response_alg text, token_endpoint_auth_method text,
  secret_id bigint, secret_hash bytea, last_used_at timestamptz, expires_at timestamptz
) language plpgsql stable as $$
begin
  return query
    select app.id, app.client_id, app.redirect_uris, app.allow_groups, app.deny_groups,
      app.id_token_signed_response_alg, app.token_endpoint_auth_method,
      secret.id, secret.secret_hash, secret.last_used_at, secret.expires_at
    from oauth_apps as app
    join app_secrets as secret on secret.app_id = app.id
    where app.client_id = any (p_client_ids) and app.suspended_at is null;
end
$$;
