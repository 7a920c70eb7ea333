package history

// Meaning says what happened in a failed move and what that means; Advice says
// what to do. Both are in our words: the server's own text is shown beside them.
func (c Code) Meaning() string { return c.text().meaning }

// Advice says what to do about a failed move.
func (c Code) Advice() string { return c.text().advice }

func (c Code) text() codeText {
	if text, ok := codeTexts[c]; ok {
		return text
	}
	return codeTexts[OtherReason]
}

type codeText struct{ meaning, advice string }

var codeTexts = map[Code]codeText{
	NoReason: {
		"The server gave no reason.",
		"Check the logs of the two shards at that time; the balancer tries again by itself."},
	OtherReason: {
		"shardboard does not know this reason.",
		"Read the server's text; a search for it may find more."},
	OtherMove: {
		"One of the two shards took part in another move, and a shard takes part in one at a time. Nothing was moved.",
		"Try again when that one has ended; the balancer does so by itself."},
	OrphansWait: {
		"The recipient held this range before and has not yet deleted its old documents of it, " +
			"so it cannot take the range back. Nothing was moved.",
		"Wait: a shard deletes them about 15 minutes after a range left it (orphanCleanupDelaySecs). Trying again sooner fails in the same way."},
	OrphansLikely: {
		"The server logged no reason. The recipient gave up after ten seconds and before its first step, as it does while it still has to " +
			"delete old documents of this range. Nothing was moved.",
		"Wait: a shard deletes them about 15 minutes after a range left it (orphanCleanupDelaySecs). The recipient's log confirms the reason."},
	LockBusy: {
		"A lock on the collection could not be taken in time. Nothing was moved.",
		"Try again. If it fails again, look for a long operation on that collection."},
	ChunkTooBig: {
		"The chunk has more documents than may be moved at once. It stays where it is.",
		"Split the chunk, then move the parts. A range of one single shard-key value cannot be split."},
	DuplicateID: {
		"The recipient already has a document with the same _id or another unique value. Nothing was moved.",
		"Run the check for duplicate ids (/checks/duplicates) and remove the stray copy first."},
	CopyStopped: {
		"The recipient stopped copying; the server does not say why. Most often it has a document with the same _id already. Nothing was moved.",
		"Run the check for duplicate ids (/checks/duplicates); if there are none, try again."},
	StepDown: {
		"A shard elected another primary during the move. The range is where the routing table says.",
		"Check that the replica set is stable, then try again."},
	NotPermitted: {
		"The user who asked for the move is not permitted to do it. Nothing was moved.",
		"Grant moveChunk on the collection, as the role clusterManager has it."},
	WrongZone: {
		"The range belongs to a zone that the recipient is not in. Nothing was moved.",
		"Choose a shard of the zone, or change the zone first."},
	Draining: {
		"The recipient is being removed from the cluster and takes no more chunks. Nothing was moved.",
		"Choose another shard."},
	MovesBlocked: {
		"The collection is being changed (a reshard, a rename, or its moves are blocked). Nothing was moved.",
		"Try again when the change is over."},
	BoundsChanged: {
		"No chunk has these bounds any more: it was split, merged or moved before. Nothing was moved.",
		"Look at the chunks as they are now and try again with their bounds."},
	StaleVersion: {
		"The shard knew another version of the routing table. Nothing was moved.",
		"Try again: the shard has refreshed its copy since."},
	NoShard: {
		"There is no shard of that name. Nothing was moved.",
		"Choose a shard that exists."},
	NoIndex: {
		"The recipient lacks the collection or some of its indexes and could not create them. Nothing was moved.",
		"Make the indexes the same on all shards, then try again."},
	TooManyWrites: {
		"Writes to the range came faster than they could be copied. Nothing was moved.",
		"Try again when there are fewer writes, or split the chunk first."},
	NotReplicated: {
		"A majority of a shard's members did not confirm the copy in time. The range is where the routing table says.",
		"Look at the replication lag of both shards, then try again."},
	DiskFull: {
		"The recipient has no disk space left. Nothing was moved.",
		"Make room on that shard before anything else."},
	Unreachable: {
		"A server involved did not answer. The range is where the routing table says.",
		"Check that all members of both shards and the config servers run, then try again."},
	TimedOut: {
		"A step took longer than allowed. The range is where the routing table says.",
		"Look for load or a hanging server, then try again."},
	Interrupted: {
		"The move was interrupted: by somebody, a shutdown or the election of another primary. The range is where the routing table says.",
		"Try again if the move is still wanted."},
}
