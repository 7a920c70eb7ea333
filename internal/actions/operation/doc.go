// Package operation has what a change of a cluster is made of, and knows nothing of the kinds of changes.
//
// An operation is a row of one table: its command, what the command needs, does and says. A Step is an operation with
// what it is about; its Command is what is shown, recorded and sent. A Fact is a statement about the cluster: a
// precondition of a step, or the proof of its effect.
//
// Admin runs commands and Reader reads facts. Package cluster implements both, and promises that each command is sent
// once or not at all, and that an unknown effect is reported as unknown.
package operation
