/** Explains a server's certificate that Node refuses because it does not know the authority. */

const UNKNOWN_AUTHORITY =
  /self[- ]signed certificate|unable to (verify the first|get (local )?issuer) certificate/

/**
 * Returns the cure for a certificate of an unknown authority, or undefined for another error. The mailer replaces the code,
 * so the message decides.
 */
export function authorityCure({ message }: Error): string | undefined {
  if (!UNKNOWN_AUTHORITY.test(message)) return undefined
  return 'let the server send its whole chain of certificates; for a private authority set NODE_EXTRA_CA_CERTS to the file of its certificate, in the environment of the service and of this command, because Node reads it before .env'
}
