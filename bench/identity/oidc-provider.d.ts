/** The types of node-oidc-provider that the bench uses. The package has none. */
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

  // biome-ignore lint/style/noDefaultExport: the package exports it this way.
  export { Provider as default }
}
