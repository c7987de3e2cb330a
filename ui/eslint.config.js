import js from '@eslint/js'
import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import ts from 'typescript-eslint'
import svelteConfig from './svelte.config.js'

const onlyHostMayImportTauri = {
  patterns: [{ group: ['@tauri-apps/*'], message: 'Only src/lib/host may import @tauri-apps.' }],
}

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/lib/protocol'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      // TypeScript reports unknown names itself, with types in view.
      'no-undef': 'off',
      'no-restricted-imports': ['error', onlyHostMayImportTauri],
      'max-lines-per-function': ['error', { max: 100, skipBlankLines: true, skipComments: true }],
      // Text of models, tools and files must never become markup.
      'svelte/no-at-html-tags': 'error',
      // The content policy refuses style attributes in some web views; `style:name` goes through everywhere.
      'no-restricted-syntax': [
        'error',
        { selector: 'SvelteAttribute[key.name="style"]', message: 'Use a class or style:name={value}.' },
      ],
      // It reads the words of an explanation in such a comment as further codes.
      'svelte/no-unused-svelte-ignore': 'off',
      eqeqeq: 'error',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: {
      parserOptions: {
        projectService: true,
        extraFileExtensions: ['.svelte'],
        parser: ts.parser,
        svelteConfig,
      },
    },
  },
  {
    files: ['src/lib/host/**', '**/*.test.ts'],
    rules: { 'no-restricted-imports': 'off', 'max-lines-per-function': 'off' },
  },
)
