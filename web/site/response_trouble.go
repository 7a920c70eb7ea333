package site

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// troubleText adds cause and remedy to a sentence that says what could not be done
// because of a trouble with our data.
func troubleText(err error, text string) string {
	if t, ok := store.TroubleOf(err); ok && !strings.Contains(text, t.Cause) {
		return text + " " + t.Text()
	}
	return text
}

// logHasTheFile is what people read of a trouble with our data who may not know where
// our files are.
const logHasTheFile = "Nothing can be done from here. The server's log names the file and the remedy; tell the administrator of " +
	"shardboard, and try again later."

// ShownTo is a failure as it may be told to who asks: where our files are is for
// operators.
func ShownTo(r *http.Request, err error) error {
	t, ok := store.TroubleOf(err)
	if !ok || auth.From(r.Context()).May(auth.Operator) {
		return err
	}
	return &fault.Error{Kind: fault.Unavailable, Title: t.Title(), Text: logHasTheFile}
}

// ShownInForm is ShownTo for a form, which has no heading for the title: the cause
// has to be in the sentence.
func ShownInForm(r *http.Request, err error) error {
	t, ok := store.TroubleOf(err)
	if !ok || auth.From(r.Context()).ID != "" {
		return err
	}
	return fault.New(fault.Unavailable, "%s. %s", t.Title(), logHasTheFile)
}

// bug is a defect of ours that has met a request. Its reference is on the page and in
// the log, so that a person with the one finds the other.
type bug struct {
	ref string
	err error
}

func (b *bug) Error() string { return b.err.Error() }

func (b *bug) Unwrap() error { return b.err }

// newRef is a reference that is short enough to be read out.
func newRef() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// asBug gives a failure of our own a reference; every other error has none.
func asBug(err error) (*bug, bool) {
	var b *bug
	if errors.As(err, &b) {
		return b, true
	}
	if err == nil || fault.Of(err) != fault.Internal {
		return nil, false
	}
	return &bug{ref: newRef(), err: err}, true
}

// bugText is what a page says of a defect: the general sentence, and where to look.
func (s *Site) bugText(b *bug) string {
	return fault.Text(
		b.err,
	) + " " + fmt.Sprintf(
		"The log of shardboard has the cause under ref=%s, at %s.",
		b.ref,
		s.Deps.Now().UTC().Format("2006-01-02 15:04:05 UTC"),
	)
}
