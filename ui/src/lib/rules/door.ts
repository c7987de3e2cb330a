/** The way to the rules of a project: looked at, tried out, kept, taken back. A test puts its own in place. */
import type { Client } from '$lib/host/client'
import type { Judged, RuleAnswer, RuleDraft, RuleId, RuleInfo, RulePreview, RuleShape } from '$lib/protocol'

export interface RuleDoor {
  list(): Promise<RuleInfo[]>
  /** What such a rule would mean; nothing is kept. */
  preview(shape: RuleShape, answer: RuleAnswer): Promise<RulePreview>
  save(rule: RuleDraft): Promise<RuleInfo[]>
  remove(rule: RuleId): Promise<RuleInfo[]>
  /** What would be said to a command now; nothing runs. */
  judge(command: string): Promise<Judged>
}

/** The client and the folder are asked for with every question: they may come later than the door. */
export function ruleDoor(client: () => Client, project: () => string): RuleDoor {
  return {
    list: () => client().rules(project()),
    preview: (shape, answer) => client().previewRule(project(), shape, answer),
    save: (rule) => client().saveRule(project(), rule),
    remove: (rule) => client().removeRule(project(), rule),
    judge: (command) => client().judgeCommand(project(), command),
  }
}
