package engine

import "shardboard/internal/message"

// Reasons that are given in several places.
var (
	runUnsaved = message.New("run.unsaved", "The run’s state cannot be saved; nothing is sent until it can.")
	runUnknown = message.New("run.unknown",
		"A command was sent and no answer came. shardboard reads the cluster to find out whether it had an effect, and does not send it again.")
	stepChanged      = message.New("step.changed", "What the command depends on has changed, so nothing was sent.")
	stepUnread       = message.New("step.unread", "What the command depends on could not be read, so nothing was sent.")
	stepChangedSince = message.New("step.changedSince", "Somebody else has since changed what the command was meant to change.")
)
