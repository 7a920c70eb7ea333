package engine

import "shardboard/internal/message"

// Reasons that are given in several places.
var (
	runUnsaved = message.New("run.unsaved", "The run’s state cannot be saved; nothing is sent until it can.")
	runUnknown = message.New("run.unknown",
		"It is not known whether the last command had its effect.")
	stepChanged      = message.New("step.changed", "What the command depends on has changed, so nothing was sent.")
	stepUnread       = message.New("step.unread", "What the command depends on could not be read, so nothing was sent.")
	stepChangedSince = message.New("step.changedSince", "Somebody else has since changed what the command was meant to change.")
)
