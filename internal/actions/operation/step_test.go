package operation

import (
	"slices"
	"testing"
)

func TestAnotherRecipientKeepsNothingThatIsPermanentlyBlocked(t *testing.T) {
	s := Step{Op: OpMove, Shard: "a", Others: []string{"b", "c"}}
	for _, test := range []struct {
		to      string
		lasting bool
		want    []string
	}{{"b", false, []string{"b", "c", "a"}}, {"c", true, []string{"c", "b"}}} {
		if got := s.To(test.to, test.lasting).Recipients(); !slices.Equal(got, test.want) {
			t.Errorf("to %s: %v, want %v", test.to, got, test.want)
		}
	}
	if !slices.Equal(s.Others, []string{"b", "c"}) {
		t.Errorf("the step itself changed: %v", s.Others)
	}
}
