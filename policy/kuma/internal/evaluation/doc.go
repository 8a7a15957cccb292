// Package evaluation judges one request straight from the text of the policies.
//
// It is the second opinion on package lowering and on [policy.Decide]. It shares
// the parsed text and the selection with them and nothing else: it imports neither
// the lowering nor the matches of a program.
package evaluation
