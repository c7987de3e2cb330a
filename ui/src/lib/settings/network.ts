/** What is typed on the network page. Pure. */

/** Whether a path begins at the root of a system; the core reads the file itself. */
export const isWholePath = (text: string): boolean => /^(?:[/\\]|[a-z]:[/\\])/iu.test(text.trim())
