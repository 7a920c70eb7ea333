package cluster

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
)

// answer is the server's error reply.
type answer struct {
	code int    // 0: the server gave none, as 4.4 and 5.0 do for many arguments
	name string // of the code; "" if absent or malformed
	text string
}

// codeName matches the server's code names. Anything else is not trusted and not shown.
var codeName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{1,60}$`)

// class is the code with its name, such as "LockBusy (46)", for users who may not see
// the server's text. "" when there is no code.
func (a answer) class() string {
	switch {
	case a.code == 0:
		return ""
	case codeName.MatchString(a.name):
		return fmt.Sprintf("%s (%d)", a.name, a.code)
	}
	return fmt.Sprintf("error %d", a.code)
}

// answerOf returns the server's error reply; false when there is none.
func answerOf(err error) (answer, bool) {
	var command mongo.CommandError
	if errors.As(err, &command) {
		return answer{int(command.Code), command.Name, command.Message}, !mongo.IsNetworkError(err)
	}
	var write mongo.WriteException
	if errors.As(err, &write) {
		if len(write.WriteErrors) > 0 {
			return answer{code: write.WriteErrors[0].Code, text: write.WriteErrors[0].Message}, true
		}
		// A write concern error: the write may still be rolled back, so the outcome is
		// unknown.
	}
	return answer{}, false
}

// refusal classifies a failed command. Only certain refusals get a kind that promises
// that nothing changed.
func (c *Client) refusal(a answer, err error, doing action) error {
	kind := a.kind()
	if busy := actions.BusyOf(a.code, a.text, err); busy != nil {
		err = busy
	}
	switch a.code {
	case codeReshardAborted:
		err = errors.Join(actions.ErrReshardingAborted, err)
	case codeReshardCommits:
		err = errors.Join(actions.ErrReshardingCommits, err)
	}
	switch kind {
	case fault.Forbidden:
		if a.code == codeAtlas {
			return c.atlasRefuses(err, doing.what, doing.privilege)
		}
		return c.denied(err, doing.what, doing.privilege)
	case fault.UnknownOutcome:
		said := fmt.Sprintf("The cluster at %s could not say whether it did %s", c.hosts(), doing.what)
		const tells = "; only reading it tells."
		return fault.Quote(kind, err, said+" ("+serverText(a.text)+")"+tells, said+withClass(a.class())+tells)
	case fault.Internal:
		said := fmt.Sprintf("The cluster's answer to an attempt to %s is not understood", doing.what)
		return fault.Quote(kind, err, said+": "+serverText(a.text)+".", said+withClass(a.class())+".")
	}
	if a.code == codeCommandNotFound {
		return fault.Wrap(kind, err, "This server release has no command to %s.", doing.what)
	}
	said := "The cluster refused to " + doing.what
	return fault.Quote(kind, err, said+": "+serverText(a.text)+".", said+withClass(a.class())+".")
}

// withClass formats a class for the end of a sentence.
func withClass(class string) string {
	if class == "" {
		return ""
	}
	return ": " + class
}

// kind maps an error code to a kind (MongoDB 5.0.7, base/error_codes.yml, and as
// observed on 5.0.7).
func (a answer) kind() fault.Kind {
	switch a.code {
	case 0:
		return a.kindOfText()
	case codeUnauthorized, codeAtlas:
		return fault.Forbidden
	case 2, 9, 20, 72: // BadValue, FailedToParse, IllegalOperation, InvalidOptions: invalid requests or states
		if k := a.kindOfText(); k != fault.Internal {
			return k
		}
		if a.code == 20 {
			return fault.Conflict
		}
		return fault.Invalid
	case 14, 61, 73: // TypeMismatch, ShardKeyNotFound, InvalidNamespace
		return fault.Invalid
	case codeNamespaceNotFound, codeCommandNotFound,
		70, 118, 177, // shard, sharded collection, zone
		40165, 51261: // chunk of moveRange, of clearJumboFlag
		return fault.NotFound
	case 24, 46, codeConflictingOp, // locks, another operation
		48, 63, 105, 150, 13388, // the collection was changed or replaced
		87, 153, // cannot be split, too big
		163, 178, // zone in use, overlap
		200, 319, 338, // range not cleaned up, movePrimary or resharding running
		339, codeReshardCommits, codeReshardAborted, // no resharding, committing already, aborted
		4952606: // too few values of the key for so many chunks
		return fault.Conflict
	case 96: // operation failed
		// A donor that failed during the migration may have committed it. Other messages give
		// a reason why nothing was done.
		if strings.Contains(a.text, "failed on source shard") {
			return fault.UnknownOutcome
		}
		return fault.Conflict
	case 50: // time limit exceeded, except when the recipient never began
		if strings.Contains(a.text, "Failed to delete orphaned") {
			return fault.Conflict
		}
		return fault.UnknownOutcome
	case 11000: // the chunk is still in another migration
		if strings.Contains(a.text, "config.migrations") {
			return fault.Conflict
		}
		return fault.Internal
	case 64, 265: // not replicated to a majority; moved but not cleaned up on the donor
		return fault.UnknownOutcome
	}
	if unavailable(a.code) {
		return fault.UnknownOutcome
	}
	return fault.Internal
}

// kindOfText classifies by the message, for errors without a code or with a generic
// one.
func (a answer) kindOfText() fault.Kind {
	has := func(s string) bool { return strings.Contains(a.text, s) }
	switch {
	case has("no chunk found"), has("no chunk was found"):
		return fault.NotFound
	case has("desired max chunk size"), // split at the median of an empty chunk
		has("is a boundary key of"), has("could not merge chunks"), has("has a hole in the range"),
		has("does not belong to shard"), has("not contained within chunk"):
		return fault.Conflict
	case has("not valid for shard key pattern"), has("need to specify"), has("cannot specify"),
		has("bound not specified"), has("no shard key found"):
		return fault.Invalid
	}
	return fault.Internal
}
