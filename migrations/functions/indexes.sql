-- Why each index exists. An index costs every new row a write, so it stays only for a reader or a rule. Its comment begins with
-- the file or the function that reads it, with the foreign key whose deletions it serves, or with `unique` for a rule. Primary keys
-- need none. test/database/indexes.test.ts finds an index without a reader. `\di+` in psql shows the comments.

comment on index access_key_tokens_expiry is 'src/operations/retention.ts: deletes expired tokens';
comment on index access_key_tokens_of_key is 'issue_access_token: the tokens of a key, the latest first';

comment on index access_keys_expiring is 'src/payment/apps/due-alerts.ts: keys that expire soon';
comment on index access_keys_of_app is 'src/payment/access-keys/keys.ts: the keys of an application';
comment on index access_keys_public_id_key is 'unique: a client_id is one key';

comment on index access_tokens_expiry is 'src/operations/retention.ts: deletes expired tokens';
comment on index access_tokens_grant is 'src/identity/oauth/revocation.ts: the tokens of a grant';
comment on index access_tokens_token_hash_key is 'unique: a token belongs to one grant';

comment on index account_links_expiry is 'src/operations/retention.ts: deletes expired links';
comment on index account_links_token_hash_key is 'unique: a link is of one member';
comment on index account_links_user is 'src/accounts/security/account-links.ts: a member''s open links of a purpose';

comment on index alerts_account_cause is 'unique: a member is warned once of a cause';
comment on index alerts_cause_key is 'unique: a member is warned once of a cause';
comment on index alerts_oauth_cause_key is 'unique: a member is warned once of a cause';
comment on index alerts_of_user is 'src/payment/alerts/alerts.ts: a member''s list';
comment on index alerts_time is 'src/operations/retention.ts: deletes old alerts';
comment on index alerts_unread is 'use_sessions: counts a member''s unread alerts';

comment on index app_logos_created is 'src/operations/retention.ts: deletes pictures that no application shows';

comment on index app_secrets_app is 'src/identity/apps/secrets.ts: the secrets of an application';
comment on index app_secrets_ending is 'src/operations/retention.ts: deletes replaced secrets';
comment on index app_secrets_secret_hash_key is 'unique: no secret is given twice';

comment on index audit_log_action is 'src/core/audit.ts: entries of an action or an area';
comment on index audit_log_actor is 'src/core/audit.ts: entries of an actor';
comment on index audit_log_created is 'src/core/audit.ts: entries of a time';
comment on index audit_log_subject is 'src/core/audit.ts: entries of a subject';

comment on index authorization_codes_code_hash_key is 'unique: a code is of one request';
comment on index authorization_codes_expiry is 'src/operations/retention.ts: deletes expired codes';
comment on index authorization_codes_resource is 'foreign key authorization_codes_resource_app_id_fkey: an application is deleted';
comment on index authorization_codes_session is 'foreign key authorization_codes_session_id_fkey: a session is deleted';

comment on index charge_notices_due is 'src/payment/mandates/notices.ts: notices that are due';

comment on index consents_app is 'src/identity/apps/acts.ts: the members of an application';

comment on index device_codes_app is 'src/identity/devices/authorization.ts: counts an application''s open codes';
comment on index device_codes_device_code_hash_key is 'unique: a device code is of one request';
comment on index device_codes_expiry is 'src/operations/retention.ts: deletes expired codes';
comment on index device_codes_grant is 'foreign key device_codes_grant_id_fkey: a grant is deleted';
comment on index device_codes_resource is 'foreign key device_codes_resource_app_id_fkey: an application is deleted';
comment on index device_codes_session is 'foreign key device_codes_session_id_fkey: a session is deleted';
comment on index device_codes_user is 'src/privacy/export.ts: a member''s decisions';
comment on index device_codes_user_code_tag_key is 'unique: a member''s typed code names one request';

comment on index entries_of_account is 'src/ledger/wallet.ts: the statement of a wallet';

comment on index forum_events_received is 'src/operations/retention.ts: deletes old events';

comment on index forum_groups_name_key is 'unique: the forum''s groups differ in more than case';

comment on index forum_members_checked is 'src/accounts/forum/staff.ts: when the forum was last asked';
comment on index forum_members_created is 'src/accounts/forum/points.ts: members whom no pass of the leaderboard has seen';
comment on index forum_members_due is 'src/accounts/forum-sync/sweep.ts: members to ask the forum for';
comment on index forum_members_failing is 'src/accounts/forum-sync/state.ts: members whose check failed';
comment on index forum_members_hinted is 'src/accounts/forum-sync/sweep.ts: members that the forum named';
comment on index forum_members_lapsed is 'src/accounts/forum/staff.ts: staff whose rights have lapsed';
comment on index forum_members_score_due is 'src/accounts/forum/points.ts: scores that are due';
comment on index forum_members_silenced is 'src/accounts/forum-sync/compare.ts: silenced members';
comment on index forum_members_suspended is 'src/accounts/forum-sync/compare.ts: suspended members';

comment on index forum_nonces_expiry is 'src/operations/retention.ts: deletes expired nonces';

comment on index forum_scores_pending is 'src/accounts/forum/points.ts: grants that are to be made';

comment on index forum_sources_group_id_key is 'unique: a group of the forum has one list';

comment on index grants_app is 'src/identity/apps/sign-ins.ts: the sign-ins of an application by day';
comment on index grants_code_id_key is 'unique: a code is redeemed once';
comment on index grants_expiry is 'src/operations/retention.ts: deletes expired grants';
comment on index grants_resource is 'foreign key grants_resource_app_id_fkey: an application is deleted';
comment on index grants_session is 'end_sessions: the grants of ended sessions';
comment on index grants_user_app is 'src/home/apps.ts: a member''s last sign-in to an application';

comment on index journal_posted is 'src/ledger/proofs.ts: the journals of a day';
comment on index journal_reference_key is 'unique: a payment, a transfer or a grant happens once';

comment on index kept_forms_end is 'src/operations/retention.ts: deletes forms that were not sent again';

comment on index ledger_accounts_frozen is 'src/admin/points/freezes.ts: the frozen wallets';
comment on index ledger_accounts_platform_key is 'unique: a book has one fee account and one issuance account';
comment on index ledger_accounts_wallet_key is 'unique: a member has one wallet in a book';

comment on index limit_counters_end is 'src/operations/retention.ts: deletes ended windows';

comment on index link_codes_fingerprint_key is 'unique: a link has a code once';
comment on index link_codes_free is 'take_units: the next codes to sell';
comment on index link_codes_unit_key is 'unique: a unit of a sale has one code';

comment on index link_deliveries_of_link is 'unique: a sale names a version of its link';

comment on index link_orders_member_total is 'units_sold_to: the last sale to a member';
comment on index link_orders_messages is 'src/payment/links/messages.ts: the messages of a link';
comment on index link_orders_of_link is 'unique: a code is sold by an order of its link';
comment on index link_orders_of_member is 'place_link_order: the open orders of a member';
comment on index link_orders_sold_at is 'points_taken_before: the last sale before a moment';
comment on index link_orders_sold_before is 'unique: each sale continues the units of its link, and no other sale does';
comment on index link_orders_sold_total is 'src/payment/links/sales.ts: the last sales of a link';

comment on index link_reports_age is 'src/operations/retention.ts: deletes old reports';
comment on index link_reports_of_member is 'src/privacy/export.ts: the reports of a member';
comment on index link_reports_once is 'unique: a member reports a link once';
comment on index link_reports_open is 'src/payment/links/reports.ts: the reports that staff has not settled';

comment on index links_of_app is 'src/payment/links/acts.ts: counts the links of an application';
comment on index links_slug_key is 'unique: an address is one link';
comment on index links_stopped is 'src/payment/links/reads.ts: the stopped links';

comment on index local_groups_id_name_key is 'unique: user_groups holds a group''s name as it is';
comment on index local_groups_name_key is 'unique: local groups differ in more than case';

comment on index looked_findings_age is 'src/operations/retention.ts: deletes old looks';

comment on index logout_deliveries_claimed is 'claim_logouts: deliveries under way';
comment on index logout_deliveries_ended is 'src/operations/retention.ts: deletes old deliveries';
comment on index logout_deliveries_lanes is 'claim_logouts: the next of each application';
comment on index logout_deliveries_of_app is 'src/identity/logout/deliveries.ts: an application''s list';
comment on index logout_deliveries_of_user is 'src/privacy/export.ts: a member''s sign-outs';

comment on index mandate_refusals_time is 'src/operations/retention.ts: deletes old refusals';

comment on index mandates_charged_key is 'unique: a charge belongs to the application and the member of its mandate';
comment on index mandates_ended is 'src/payment/mandates/notices.ts: mandates that ended a moment ago';
comment on index mandates_in_force is 'src/payment/mandates/agreeing.ts: what a member permits in all';
comment on index mandates_mandate_id_key is 'unique: a public id names one mandate';
comment on index mandates_of_app is 'src/payment/mandates/mandates.ts: an application''s list';
comment on index mandates_of_oauth_app is 'foreign key mandates_oauth_app_id_fkey: an application is deleted';
comment on index mandates_of_user is 'src/payment/mandates/mandates.ts: a member''s list';
comment on index mandates_reference_key is 'unique: a reference of an application names one mandate';
comment on index mandates_replaces is 'foreign key mandates_replaces_fkey: an offer is deleted';
comment on index mandates_to_finish is 'finish_mandates: mandates whose last day is over';
comment on index mandates_unaccepted is 'src/operations/retention.ts: deletes offers that nobody accepted';

comment on index notification_attempts_claim_key is 'unique: a claim is one attempt';
comment on index notification_attempts_time is 'src/operations/retention.ts: deletes old attempts';

comment on index notifications_claimed is 'claim_notifications: deliveries under way';
comment on index notifications_failed is 'src/payment/notifications/redelivery.ts: the failed ones of all applications';
comment on index notifications_lanes is 'claim_notifications: the next of each host and application';
comment on index notifications_of_app is 'src/payment/notifications/redelivery.ts: an application''s list';
comment on index notifications_of_payout is 'src/payment/notifications/redelivery.ts: the events of a payout';
comment on index notifications_of_mandate is 'src/payment/notifications/redelivery.ts: the events of a mandate';
comment on index notifications_of_transfer is 'src/payment/notifications/redelivery.ts: the events of a transfer';
comment on index notifications_order_id_key is 'unique: an order, a kind and an event are one notification';
comment on index notifications_troubled is 'src/payment/apps/due-alerts.ts: applications whose notifications fail today';

comment on index oauth_apps_client_id_key is 'unique: a client_id names one application';
comment on index oauth_apps_fetched is 'src/operations/retention.ts: deletes unused clients of documents';
comment on index oauth_apps_name_skeleton is 'src/admin/apps/like-named.ts: applications with names alike';
comment on index oauth_apps_offered is 'src/home/apps.ts: the newest applications';
comment on index oauth_apps_owner is 'src/identity/apps/apps.ts: an owner''s list';
comment on index oauth_apps_registered_by is 'src/identity/apps/apps.ts: counts what an application registered today';
comment on index oauth_apps_reviewed_logo is 'src/operations/retention.ts: whether a review needs a picture';
comment on index oauth_apps_reviewed_resource_uri_key is 'unique: a reviewed resource belongs to one application';
comment on index oauth_apps_suspended is 'src/identity/apps/acts.ts: the suspended applications';
comment on index oauth_apps_unconfirmed is 'src/operations/retention.ts: deletes unused registrations';
comment on index oauth_apps_unreviewed is 'src/identity/apps/acts.ts: applications that wait for a review';
comment on index oauth_apps_uploaded_logo is 'src/operations/retention.ts: whether an application shows a picture';

comment on index order_views_of_order is 'src/payment/merchant/order-record.ts: when an order was opened';
comment on index order_views_time is 'src/operations/retention.ts: deletes old views';

comment on index orders_charges is 'unique: each charge of a period continues its running sum';
comment on index orders_frozen is 'src/admin/points/freezes.ts: the frozen orders';
comment on index orders_journal_id_key is 'unique: a journal pays one order';
comment on index orders_of_app is 'src/payment/merchant/orders.ts: an application''s list';
comment on index orders_of_payer is 'src/payment/buyer/payments.page.ts: a member''s payments';
comment on index orders_order_id_key is 'unique: a number of an application is one order at each door';
comment on index orders_takings is 'src/payment/merchant/statistics.ts: what an application took in a time';
comment on index orders_to_expire is 'expire_orders: unpaid orders whose time is over';
comment on index orders_trade_no_key is 'unique: a trade_no names one order';
comment on index orders_transaction_id_key is 'unique: a transaction_id names one order';

comment on index outgoing_mails_due is 'src/accounts/people/email.ts: mails to send';
comment on index outgoing_mails_of_user is 'src/privacy/export.ts: a member''s mails';
comment on index outgoing_mails_settled is 'src/operations/retention.ts: deletes old mails';

comment on index passkeys_credential_id_key is 'unique: a credential is of one member';
comment on index passkeys_user is 'src/accounts/passkeys/passkeys.ts: a member''s passkeys';

comment on index payment_app_days_day is 'src/operations/retention.ts: deletes the sums of past days';

comment on index payment_app_keys_current is 'unique: one key of a kind is current';
comment on index payment_app_keys_ending is 'src/operations/retention.ts: deletes replaced keys';
comment on index payment_app_keys_of_app is 'src/payment/signing/keys.ts: the keys of an application';

comment on index payment_app_members_of_user is 'src/payment/apps/team.ts: the teams of a member';

comment on index payment_app_offers_to is 'src/payment/apps/handover.ts: applications offered to a member';

comment on index payment_app_products_key is 'unique: a description of an application is one product';
comment on index payment_app_products_sold is 'src/payment/merchant/statistics.ts: the products of some days';

comment on index payment_apps_applicant is 'src/payment/apps/apps.ts: an owner''s list';
comment on index payment_apps_approved_names is 'names_beginning: the names in the title of a link';
comment on index payment_apps_book_key is 'unique: all rows of an application are of its book';
comment on index payment_apps_decided is 'src/payment/apps/review.ts: the decided applications';
comment on index payment_apps_live_app_id_key is 'unique: an application has one test application';
comment on index payment_apps_low_balance is 'src/payment/apps/due-alerts.ts: applications that watch a balance';
comment on index payment_apps_mandate_right is 'src/admin/apps/mandates.ts: applications by their right to mandates';
comment on index payment_apps_mandate_right_asked is 'src/admin/navigation/queues.ts: who asks for the right to mandates';
comment on index payment_apps_name_skeleton is 'src/admin/apps/like-named.ts: applications with names alike';
comment on index payment_apps_offered is 'src/home/apps.ts: the newest applications';
comment on index payment_apps_payment_id_key is 'unique: a Payment ID names one application';
comment on index payment_apps_pid_key is 'unique: a pid names one application';
comment on index payment_apps_review is 'src/payment/apps/review.ts: the queue of reviews';
comment on index payment_apps_review_again is 'src/payment/apps/review.ts: the queue of changes';
comment on index payment_apps_reviewed_logo is 'src/operations/retention.ts: whether a review needs a picture';
comment on index payment_apps_tips is 'unique: one application has the tips';
comment on index payment_apps_uploaded_logo is 'src/operations/retention.ts: whether an application shows a picture';

comment on index payout_lines_line_id_key is 'unique: a payout has a line_id once';
comment on index payout_lines_memos is 'src/privacy/anonymise.ts: what was written to a member';
comment on index payout_lines_pending is 'post_payout_lines: the next lines of a payout';
comment on index payout_lines_transfer_id_key is 'unique: a transfer pays one line';

comment on index payouts_drafts is 'src/operations/retention.ts: deletes old drafts';
comment on index payouts_ended is 'src/payment/payouts/notices.ts: payouts that ended lately';
comment on index payouts_halted is 'src/payment/payouts/run.ts: payouts that halted long ago';
comment on index payouts_of_app is 'src/payment/payouts/payouts.ts: an application''s list';
comment on index payouts_reference_key is 'unique: a reference of an application is one payout';
comment on index payouts_running is 'unique: one payout of an application runs';
comment on index payouts_waiting is 'start_payouts: the first of each application';

comment on index pending_sign_ins_expiry is 'src/operations/retention.ts: deletes expired sign-ins';
comment on index pending_sign_ins_token_hash_key is 'unique: a token is of one sign-in';
comment on index pending_sign_ins_user is 'src/accounts/security/second-factor.ts: ends a member''s sign-ins';

comment on index proposals_key_key is 'unique: a form proposes once';
comment on index proposals_open is 'src/admin/proposals/proposals.ts: the queue of proposals';

comment on index recovery_codes_key is 'unique: a member''s recovery codes differ';

comment on index recovery_requests_time is 'src/accounts/security/recovery.ts: the queue of requests';

comment on index refresh_tokens_one_chain is 'unique: a refresh token has one successor';
comment on index refresh_tokens_token_hash_key is 'unique: a token belongs to one grant';

comment on index refund_requests_of_asker is 'src/privacy/export.ts: a member''s requests';
comment on index refund_requests_of_order is 'src/payment/orders/refund-requests.ts: the requests of an order';
comment on index refund_requests_open is 'unique: an order has one open request';
comment on index refund_requests_waiting is 'src/admin/navigation/queues.ts: the queue of requests';

comment on index refunds_journal_id_key is 'unique: a journal makes one refund';
comment on index refunds_of_order is 'src/payment/orders/refunds.ts: the refunds of an order';
comment on index refunds_request_id_key is 'unique: a request is accepted by one refund';
comment on index refunds_time is 'src/payment/orders/sales.ts: what was refunded in an hour';

comment on index refused_requests_at is 'src/operations/retention.ts: deletes old requests';
comment on index refused_requests_of_app is 'src/payment/signing/refused-requests.ts: an application''s list';

comment on index retired_seal_keys_key_id_key is 'unique: a key_id names one key';

comment on index security_events_kind is 'src/admin/site/audit.page.ts: events of a kind';
comment on index security_events_network is 'src/core/refusals.ts: events of a network';
comment on index security_events_time is 'src/operations/retention.ts: deletes old events';
comment on index security_events_user is 'src/accounts/members.ts: events of a member';

comment on index sessions_expiry is 'src/operations/retention.ts: deletes expired sessions';
comment on index sessions_token_hash_key is 'unique: a token is of one session';
comment on index sessions_user is 'src/accounts/session/session.ts: a member''s sessions';

comment on index shop_links_oauth_app_logo is 'src/operations/retention.ts: whether an application may get a picture back';
comment on index shop_links_payment_app_id_key is 'unique: a payment application is of one shop';
comment on index shop_links_payment_app_logo is 'src/operations/retention.ts: whether an application may get a picture back';

comment on index sign_in_attempts_account is 'src/accounts/session/throttle.ts: attempts on an account';
comment on index sign_in_attempts_address is 'src/accounts/session/throttle.ts: attempts from an address';
comment on index sign_in_attempts_time is 'src/operations/retention.ts: deletes old attempts';

comment on index signing_keys_kid_key is 'unique: a kid names one key';
comment on index signing_keys_newest is 'unique: one key of an algorithm signs';

comment on index spent_challenges_time is 'src/operations/retention.ts: deletes old challenges';

comment on index tip_days_time is 'src/operations/retention.ts: deletes old days';
comment on index tip_pairs_time is 'src/operations/retention.ts: deletes old days';
comment on index tips_to is 'src/privacy/export.ts: the tips that a member received';

comment on index transfers_journal_id_key is 'unique: a journal makes one transfer';
comment on index transfers_of_app is 'src/payment/merchant/transfers.ts: an application''s list';
comment on index transfers_of_sender is 'transfer_facts: the sender''s last transfer';
comment on index transfers_order_id_key is 'unique: a number of an application is one transfer';
comment on index transfers_transaction_id_key is 'unique: a transaction_id names one transfer';

comment on index user_groups_forum is 'src/accounts/forum/groups.ts: the members of a group of the forum';
comment on index user_groups_forum_name is 'refuse_local_group: whether the forum has a group of this name';
comment on index user_groups_key is 'unique: a member is in a group once';
comment on index user_groups_of_local_group is 'src/accounts/local-groups.ts: the members of a local group';

comment on index users_admins is 'src/accounts/members.ts: the administrators';
comment on index users_barred is 'src/accounts/members.ts: banned and suspended members';
comment on index users_by_beginning is 'src/accounts/members.ts: finds members by one or two letters';
comment on index users_by_part is 'src/accounts/members.ts: finds members by a part of what they are called';
comment on index users_created is 'src/accounts/members.ts: members by their joining; src/admin/dashboard/figures.ts: counts new members';
comment on index users_email is 'src/accounts/people/users.ts: a member by address';
comment on index users_forum_id_key is 'unique: a member of the forum has one account';
comment on index users_forum_staff is 'src/accounts/forum-sync/sweep.ts: the forum''s staff, who are asked for first';
comment on index users_passkey_handle is 'unique: a handle of passkeys names one member';
comment on index users_service is 'src/accounts/members.ts: the accounts of programs';
comment on index users_username_key is 'unique: usernames differ in more than case';
