package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"shardboard/internal/fixture/expect"
)

func TestEveryKindHasAStatusAnExitCodeAndWords(t *testing.T) {
	seen := map[string]bool{}
	for k := Internal; k <= UnknownOutcome; k++ {
		if k.HTTPStatus() < 400 || k.ExitCode() == 0 || k.String() == "" || seen[k.String()] {
			t.Errorf("%d: %q, HTTP %d, exit %d", k, k, k.HTTPStatus(), k.ExitCode())
		}
		seen[k.String()] = true
	}
	if Of(nil) != None || None.HTTPStatus() != 200 || None.ExitCode() != 0 {
		t.Errorf("no error is %v, HTTP %d, exit %d", Of(nil), None.HTTPStatus(), None.ExitCode())
	}
	expect.Equal(t, Kind(200).HTTPStatus(), 500, "an unknown kind is not internal")
}

func TestTheOutermostClassificationCounts(t *testing.T) {
	inner := New(NotFound, "no shard %q", "x")
	outer := Wrap(Unavailable, fmt.Errorf("read: %w", inner), "The cluster does not answer.")
	if Of(outer) != Unavailable || Text(outer) != "The cluster does not answer." {
		t.Errorf("%v, %q", Of(outer), Text(outer))
	}
	expect.Equal(t, Of(fmt.Errorf("read: %w", inner)), NotFound, "a wrapped classification is lost")
}

func TestUnclassifiedErrorsNeverShowTheirText(t *testing.T) {
	err := fmt.Errorf("dial mongodb://user:secret@host: %w", io.EOF)
	if Of(err) != Internal || errors.Is(err, io.EOF) && Text(err) == err.Error() {
		t.Errorf("%v: %q", Of(err), Text(err))
	}
	expect.That(t, Wrap(Invalid, nil, "nothing") == nil, "wrapping no error makes one")
}
