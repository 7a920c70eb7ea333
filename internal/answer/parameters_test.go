package answer_test

import (
	"net/url"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
)

// Links keep the switch where it is 1, so nothing else may turn it on.
func TestInternalCollectionsAreShownByOneAndZeroAlone(t *testing.T) {
	for text, want := range map[string]bool{"": false, "0": false, "1": true} {
		if got, err := answer.ParseInternal(url.Values{answer.InternalParam: {text}}); err != nil || got != want {
			t.Errorf("%q: %t, %v", text, got, err)
		}
	}
	for _, text := range []string{"true", "false", "2", "yes"} {
		if got, err := answer.ParseInternal(url.Values{answer.InternalParam: {text}}); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %t, %v", text, got, err)
		}
	}
}
