/** Words of the shared components. */
export const shared = {
  close: 'Close',
  cancel: 'Cancel',
  copy: 'Copy',
  copied: 'Copied',
  more: 'More actions',
}
