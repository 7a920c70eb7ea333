package fault

import (
	"errors"
	"fmt"
	"testing"

	"shardboard/internal/fixture/expect"
)

func TestBriefLeavesOutWhatAServerWrote(t *testing.T) {
	cause := errors.New("cause")
	quoted := Quote(Conflict, cause, `The cluster refused to move the chunk: "key 17".`, "The cluster refused to move the chunk: LockBusy (46).")
	for _, c := range []struct {
		err         error
		text, brief string
	}{
		{quoted, `The cluster refused to move the chunk: "key 17".`, "The cluster refused to move the chunk: LockBusy (46)."},
		{fmt.Errorf("step 3: %w", quoted), `The cluster refused to move the chunk: "key 17".`, "The cluster refused to move the chunk: LockBusy (46)."},
		{Wrap(Unavailable, quoted, "Not planned. %s", Text(quoted)), `Not planned. The cluster refused to move the chunk: "key 17".`, "Not planned. The cluster refused to move the chunk: LockBusy (46)."},
		{Wrap(Unavailable, quoted, "Not planned."), "Not planned.", "Not planned."},
		{cause, Text(cause), Text(cause)},
	} {
		if Text(c.err) != c.text || Brief(c.err) != c.brief {
			t.Errorf("%v: %q and %q", c.err, Text(c.err), Brief(c.err))
		}
		if plain := WithoutQuotes(c.err); Text(plain) != c.brief || Of(plain) != Of(c.err) || !errors.Is(plain, cause) {
			t.Errorf("%v: %v", c.err, plain)
		}
	}
	expect.That(t, WithoutQuotes(nil) == nil, "no error becomes one")
}
