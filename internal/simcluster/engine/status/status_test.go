package status_test

import (
	"errors"
	"fmt"
	"testing"

	"shardboard/internal/simcluster/engine/status"
)

func TestEachCodeHasItsName(t *testing.T) {
	for code, want := range map[int32]string{
		1: "InternalError", 2: "BadValue", 66: "ImmutableField", 11000: "DuplicateKey", 13388: "StaleConfig",
		40324: "Location40324", 14031: "OutOfDiskSpace", 87: "CannotSplit",
	} {
		if got := status.Errorf(code, "x").Name; got != want {
			t.Errorf("%d is %s, want %s", code, got, want)
		}
	}
}

func TestOfKeepsCodesAndConvertsOtherErrors(t *testing.T) {
	e := status.Errorf(status.NamespaceNotFound, "ns %s not found", "a.b")
	if got := status.Of(fmt.Errorf("drop: %w", e)); got != e {
		t.Errorf("got %v, want %v", got, e)
	}
	if got := status.Of(errors.New("boom")); got.Code != status.InternalError || got.Message != "boom" {
		t.Errorf(`got %v, want Code %v, Message "boom"`, got, status.InternalError)
	}
	if status.Of(nil) != nil {
		t.Error("nil became an error")
	}
	if p := status.Plain("no %s", "chunk"); !p.NoCode || p.Name != "" || p.Error() != "no chunk" {
		t.Errorf("plain: %#v", p)
	}
}
