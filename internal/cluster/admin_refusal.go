package cluster

import (
	"errors"
	"fmt"
	"regexp"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/actions/operation"
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
func (c *Client) refusal(a answer, err error, doing operation.Attempt) error {
	kind := a.kind()
	if r := a.row(); r != nil && r.busy != "" {
		err = busyError(r.busy, a.text, err)
	}
	switch a.code {
	case codeReshardAborted:
		err = errors.Join(operation.ErrReshardingAborted, err)
	case codeReshardCommits:
		err = errors.Join(operation.ErrReshardingCommits, err)
	}
	switch kind {
	case fault.Forbidden:
		if a.code == codeAtlas {
			return c.atlasRefuses(err, doing.To, doing.Privilege)
		}
		return c.denied(err, doing.To, doing.Privilege)
	case fault.UnknownOutcome:
		said := fmt.Sprintf("The cluster at %s could not say whether it did %s", c.hosts(), doing.To)
		const tells = "; only reading it tells."
		return fault.Quote(kind, err, said+" ("+serverText(a.text)+")"+tells, said+withClass(a.class())+tells)
	case fault.Internal:
		said := fmt.Sprintf("The cluster's answer to an attempt to %s is not understood", doing.To)
		return fault.Quote(kind, err, said+": "+serverText(a.text)+".", said+withClass(a.class())+".")
	}
	if a.code == codeCommandNotFound {
		return fault.Wrap(kind, err, "This server release has no command to %s.", doing.To)
	}
	said := "The cluster refused to " + doing.To
	return fault.Quote(kind, err, said+": "+serverText(a.text)+".", said+withClass(a.class())+".")
}

// withClass formats a class for the end of a sentence.
func withClass(class string) string {
	if class == "" {
		return ""
	}
	return ": " + class
}

// kind is what the table says of an error reply.
func (a answer) kind() fault.Kind {
	if r := a.row(); r != nil {
		return r.kind
	}
	if unavailable(a.code) {
		return fault.UnknownOutcome
	}
	return fault.Internal
}
