package history

import (
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
)

// A server text is replaced by one of our own phrases. Pages that classify the phrase
// must get the same code as those that classify the text.
func TestPhraseHasTheSameCodeAsTheServersText(t *testing.T) {
	for _, kind := range reasonPhrases {
		for _, phrase := range kind.any {
			expect.Equal(t, CodeOf(phrase), kind.code, "%q alone", phrase)
			text := "host-3 said " + phrase + ": {_id: 17, note: \"StaleConfig\"}"
			if got := Phrase(text); CodeOf(got) != CodeOf(text) || !strings.Contains(text, got) || strings.Contains(got, "17") {
				t.Errorf("%q becomes %q", text, got)
			}
		}
	}
	for _, unknown := range []string{"", " ", "something about {_id: 17}", "17"} {
		if got := Phrase(unknown); got != "" {
			t.Errorf("%q becomes %q, want empty", unknown, got)
		}
	}
}
