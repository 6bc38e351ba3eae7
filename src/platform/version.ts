/** The version of this program. Only package.json states it; everything that shows it reads it here. */
import manifest from '../../package.json' with { type: 'json' }

export const VERSION: string = manifest.version
