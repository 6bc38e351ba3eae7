/**
 * Compiles the adapter as the forum does: content-tag finds its templates, and Ember's own compiler makes them programs. So a mistake is
 * found here and not in a forum. It prints the program.
 */
import { readFile } from 'node:fs/promises'
import { transformAsync } from '@babel/core'
import { Preprocessor } from 'content-tag'

const FILE = new URL('javascripts/discourse/api-initializers/tessera.gjs', import.meta.url)

const { code } = new Preprocessor().process(await readFile(FILE, 'utf8'), { filename: FILE.pathname })
const { code: program } = await transformAsync(code, {
  filename: FILE.pathname,
  configFile: false,
  plugins: [
    [
      'babel-plugin-ember-template-compilation',
      { compilerPath: 'ember-source/ember-template-compiler/index.js', targetFormat: 'wire' },
    ],
  ],
})
console.log(program)
