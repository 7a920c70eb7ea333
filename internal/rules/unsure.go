package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Reasons why several rules cannot check something.

func unreadPart(p topology.Part) message.Message {
	return message.New("unread", "Not read yet, or the read failed: {part}.", partNamed(p))
}

func unlistedCollections() message.Message {
	return message.New("unlisted", "Collections cannot be listed.")
}

func unknownSize() message.Message {
	return message.New("noSize", "Its size is not known.")
}

func unknownSizes() message.Message {
	return message.New("noSizes", "How much each shard holds is not known.")
}

func unknownChunkSize() message.Message {
	return message.New("noChunkSize", "The chunk size is not known.")
}

func unknownProjects() message.Message {
	return message.New("noProjects", "The list of projects is not loaded.")
}

func nothingCounted() message.Message {
	return message.New("countedNothing", "No writes have been counted yet.")
}

func countedBriefly(w Writes) message.Message {
	return message.New("tooShort",
		"The writes of {ns} have been counted for {seconds} of the last {window} s; {need} s are needed.",
		message.Namespace("ns", w.NS), message.Count("seconds", int(w.Seconds)),
		message.Count("window", int(Window.Seconds())), message.Count("need", hotSeconds))
}

func uncountable(ns topology.Namespace) message.Message {
	return message.New("countedPart",
		"The writes of {ns} cannot be counted now, and those of the other collections are not enough to judge by.",
		message.Namespace("ns", ns))
}
