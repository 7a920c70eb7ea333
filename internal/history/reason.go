package history

import "strings"

// Code is the kind of reason of a failed move. Pages and the API have a sentence for each: what
// happened, what it means, what to do.
type Code string

// Known reasons. Texts marked "seen" are from a real 5.0.7, and a test names the phrases that were recorded from it or
// from 8.0.10; the others are names of the server's error codes (base/error_codes.yml) and messages in its migration
// sources.
const (
	NoReason      Code = "none"          // the server gave none
	OtherReason   Code = "other"         // an unknown text
	OtherMove     Code = "otherMove"     // a shard is in another migration (117, seen)
	OrphansWait   Code = "orphans"       // the recipient still has to delete documents that it gave away from this range (seen)
	OrphansLikely Code = "orphansLikely" // no reason was logged, and the recipient gave up like one that waits for such documents (8.0, seen)
	LockBusy      Code = "lockBusy"      // a lock could not be had
	ChunkTooBig   Code = "tooBig"        // more documents than one move allows (153, seen)
	DuplicateID   Code = "duplicateId"   // the recipient has a document with an _id or unique key of the range
	CopyStopped   Code = "copyStopped"   // the copy was interrupted; duplicates are the usual cause (51008 and 6718402, seen)
	StepDown      Code = "stepDown"      // a primary stepped down in the meantime (seen)
	NotPermitted  Code = "notPermitted"  // the user lacks the privilege
	WrongZone     Code = "wrongZone"     // the recipient is not in the range's zone (seen)
	Draining      Code = "draining"      // the recipient is being drained (seen)
	MovesBlocked  Code = "movesBlocked"  // the collection cannot be moved now (seen)
	BoundsChanged Code = "boundsChanged" // no chunk has these bounds any more (seen)
	StaleVersion  Code = "staleVersion"  // the shard had another version of the routing table
	NoShard       Code = "noShard"       // there is no such shard (seen)
	NoIndex       Code = "noIndex"       // the recipient lacks indexes of the collection
	TooManyWrites Code = "tooManyWrites" // writes came faster than they could be copied
	NotReplicated Code = "notReplicated" // a majority did not confirm in time
	DiskFull      Code = "diskFull"      // no space on the recipient
	Unreachable   Code = "unreachable"   // a server did not answer
	TimedOut      Code = "timedOut"      // it took too long
	Interrupted   Code = "interrupted"   // killed by somebody or by a shutdown
)

// reasonPhrases are the phrases of each reason, in the order they are searched: specific ones come before
// "operation exceeded time limit" and "operation was interrupted", which end other errors too.
var reasonPhrases = [...]struct {
	code Code
	any  []string
}{
	{OrphansWait, []string{"Failed to delete orphaned", "the orphans cleanup routine", "orphaned range", "overlapping range deletion"}},
	{
		OtherMove,
		[]string{
			"Unable to start new balancer operation",
			"Unable to start new migration",
			"ConflictingOperationInProgress",
			"currently donating chunk",
			"currently donating range",
			"currently receiving chunk",
			"currently receiving range",
			"collection: config.migrations",
		},
	},
	{MovesBlocked, []string{"undergoing changes and chunks cannot be moved", "migrations are not allowed", "Migrations are disallowed"}},
	{ChunkTooBig, []string{"ChunkTooBig", "the maximum number of documents for a chunk", "chunk too big", "too big to move"}},
	{DuplicateID, []string{"DuplicateKey", "E11000", "duplicate key"}},
	{NoIndex, []string{"missing indexes", "shard is missing", "CannotCreateIndex", "CannotCreateCollection", "non-trivial index"}},
	{CopyStopped, []string{"Location51008", "Location6718402"}}, // 6718402 since 8.0
	{
		StepDown,
		[]string{
			"InterruptedDueToReplStateChange",
			"NotWritablePrimary",
			"PrimarySteppedDown",
			"NotPrimary",
			"NotMaster",
			"not master",
			"stepped down",
			"stepdown",
			"primary stepped",
		},
	},
	{NotPermitted, []string{"not authorized", "Unauthorized", "requires authentication"}},
	{WrongZone, []string{"is not in the correct zone"}},
	{Draining, []string{"is currently draining"}},
	{BoundsChanged, []string{"no chunk found with the shard key bounds", "no chunk was found", "bounds do not match"}},
	{StaleVersion, []string{"StaleConfig", "StaleEpoch", "StaleShardVersion", "StaleDbVersion", "version mismatch", "epoch has changed"}},
	{NoShard, []string{"destination shard does not exist", "Could not find destination shard", "ShardNotFound"}},
	{TooManyWrites, []string{"ExceededMemoryLimit", "high memory usage", "too many modifications"}},
	{NotReplicated, []string{"WriteConcern", "waiting for replication"}},
	{DiskFull, []string{"OutOfDiskSpace", "No space left"}},
	{LockBusy, []string{"LockBusy", "LockTimeout", "LockFailed", "could not acquire", "Could not acquire", "Unable to acquire"}},
	// 8.0 on a donor whose primary stepped down: it does not say so, and nobody was unreachable.
	{Interrupted, []string{"to monitor data transfer :: caused by :: operation was interrupted"}},
	{
		Unreachable,
		[]string{
			"HostUnreachable",
			"HostNotFound",
			"NetworkInterfaceExceededTimeLimit",
			"NetworkTimeout",
			"SocketException",
			"FailedToSatisfyReadPreference",
			"Couldn't get a connection",
			"Failed to contact",
			"Connection refused",
			"connection refused",
		},
	},
	{TimedOut, []string{"ExceededTimeLimit", "MaxTimeMSExpired", "exceeded time limit", "timed out"}},
	{
		Interrupted,
		[]string{"InterruptedAtShutdown", "Interrupted", "CallbackCanceled", "operation was interrupted", "was killed", "shutting down"},
	},
}

// maxReasonText is how much of a text is searched.
const maxReasonText = 1 << 14

// CodeOf returns the kind of a reason in the server's text.
func CodeOf(text string) Code {
	code, _ := phraseOf(text)
	return code
}

// phraseOf returns the kind and the phrase that decided it.
func phraseOf(text string) (Code, string) {
	if strings.TrimSpace(text) == "" {
		return NoReason, ""
	}
	text = outsideBraces(text[:min(len(text), maxReasonText)])
	for _, t := range reasonPhrases {
		for _, s := range t.any {
			if strings.Contains(text, s) {
				return t.code, s
			}
		}
	}
	return OtherReason, ""
}

// outsideBraces removes text in braces: values of user data, which may contain anything. An
// unclosed brace is an ordinary character.
func outsideBraces(text string) string {
	var b strings.Builder
	for {
		from := strings.IndexByte(text, '{')
		if from < 0 {
			break
		}
		depth, to := 0, -1
		for i := from; i < len(text) && to < 0; i++ {
			switch text[i] {
			case '{':
				depth++
			case '}':
				if depth--; depth == 0 {
					to = i
				}
			}
		}
		if to < 0 {
			break
		}
		b.WriteString(text[:from])
		text = text[to+1:]
	}
	return b.String() + text
}
