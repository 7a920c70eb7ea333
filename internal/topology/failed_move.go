package topology

// FailedMove reports whether an entry of the changelog records a failed move of a chunk: the server
// writes moveChunk.error, and notes "aborted" in the entries of donor and recipient.
func (e Event) FailedMove() bool {
	switch e.What {
	case "moveChunk.error":
		return true
	case "moveChunk.from", "moveChunk.to":
		return TextField(e.Details, "note") == "aborted" && !e.MoveToSelf()
	}
	return false
}

// MoveToSelf reports whether a chunk was asked to move to the shard it is on (5.0.7 logs it as
// moveChunk.from with the note "aborted"). Nothing fails then.
func (e Event) MoveToSelf() bool {
	from := TextField(e.Details, "from")
	return from != "" && from == TextField(e.Details, "to")
}
