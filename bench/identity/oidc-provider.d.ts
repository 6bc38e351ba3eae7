/** As much of node-oidc-provider as the bench uses; the package has no types of its own. */
declare module 'oidc-provider' {
  export type Claims = Record<string, unknown> & { sub: string }
  type Model = { save(seconds?: number): Promise<string> }

  class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    listen(port: number, host: string, onListening: () => void): unknown
    Client: { find(client_id: string): Promise<object | undefined> }
    Grant: new (
      values: Record<string, unknown>,
    ) => Model & { addOIDCScope(scope: string): void }
    AuthorizationCode: new (
      values: Record<string, unknown>,
    ) => Model
  }

  // biome-ignore lint/style/noDefaultExport: it is how the package exports it.
  export { Provider as default }
}
