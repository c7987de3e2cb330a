/**
 * Hosts that belong together, so that a person can allow them at once: where packages come from and where repositories
 * lie. Each becomes an ordinary rule for the project, listed and revocable one by one.
 */
import type { RuleDraft, RuleInfo } from '$lib/protocol'

export interface HostPreset {
  id: string
  name: string
  kind: 'packages' | 'git'
  hosts: readonly string[]
}

export const hostPresets: readonly HostPreset[] = [
  {
    id: 'npm',
    name: 'npm and Yarn',
    kind: 'packages',
    hosts: ['registry.npmjs.org', 'registry.yarnpkg.com'],
  },
  { id: 'pypi', name: 'PyPI', kind: 'packages', hosts: ['pypi.org', 'files.pythonhosted.org'] },
  {
    id: 'crates',
    name: 'crates.io',
    kind: 'packages',
    hosts: ['index.crates.io', 'static.crates.io', 'crates.io'],
  },
  { id: 'go', name: 'Go modules', kind: 'packages', hosts: ['proxy.golang.org', 'sum.golang.org'] },
  {
    id: 'maven',
    name: 'Maven and Gradle',
    kind: 'packages',
    hosts: [
      'repo.maven.apache.org',
      'repo1.maven.org',
      'plugins.gradle.org',
      'plugins-artifacts.gradle.org',
      'services.gradle.org',
    ],
  },
  { id: 'ruby', name: 'RubyGems', kind: 'packages', hosts: ['rubygems.org', 'index.rubygems.org'] },
  { id: 'nuget', name: 'NuGet', kind: 'packages', hosts: ['api.nuget.org', 'globalcdn.nuget.org'] },
  { id: 'composer', name: 'Packagist', kind: 'packages', hosts: ['repo.packagist.org', 'packagist.org'] },
  {
    id: 'github',
    name: 'GitHub',
    kind: 'git',
    hosts: ['github.com', 'codeload.github.com', 'objects.githubusercontent.com'],
  },
  { id: 'gitlab', name: 'GitLab', kind: 'git', hosts: ['gitlab.com'] },
  { id: 'bitbucket', name: 'Bitbucket', kind: 'git', hosts: ['bitbucket.org'] },
  { id: 'codeberg', name: 'Codeberg', kind: 'git', hosts: ['codeberg.org'] },
]

/** The preset that a host belongs to. */
export const presetOf = (host: string): HostPreset | undefined =>
  hostPresets.find(({ hosts }) => hosts.includes(host))

const allows = ({ rule, asleep }: RuleInfo, host: string): boolean =>
  rule.answer === 'allow' && !asleep && rule.shape.shape === 'host' && rule.shape.host === host

/** The rules that still have to be made for it. */
export function missingRules(preset: HostPreset, rules: readonly RuleInfo[]): RuleDraft[] {
  return preset.hosts
    .filter((host) => !rules.some((info) => allows(info, host)))
    .map((host) => ({
      shape: { shape: 'host', host },
      answer: 'allow',
      scope: { scope: 'project' },
      end: { end: 'never' },
    }))
}

/** The rules of this project that it is made of; those for all projects are another decision. */
export const presetRules = (preset: HostPreset, rules: readonly RuleInfo[]): RuleInfo[] =>
  rules.filter(
    (info) => info.rule.scope.scope === 'project' && preset.hosts.some((host) => allows(info, host)),
  )
