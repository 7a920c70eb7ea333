package sanitize_test

import (
	"encoding/json"
	"strings"
	"testing"

	"shardboard/internal/fixture/must"
	"shardboard/internal/sanitize"
)

func TestJSONMeansTheSameAndShowsNothingHidden(t *testing.T) {
	for _, text := range []string{"plain ü 漢", "a\u202eb", "\u009b31m", "\u2028\x1b[0m\r\n\t", "\U000e0001x", "𝄞"} {
		b := must.Get(json.Marshal(map[string]string{"k": text}))
		safe := sanitize.JSON(string(b) + "\n")
		var back map[string]string
		if err := json.Unmarshal([]byte(safe), &back); err != nil || back["k"] != text {
			t.Errorf("%q comes back as %q: %v", text, back["k"], err)
		}
		if line := strings.TrimSuffix(safe, "\n"); sanitize.Line(line) != line {
			t.Errorf("%q is written as %q", text, line)
		}
	}
}
