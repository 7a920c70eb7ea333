package operation

import (
	"testing"

	"shardboard/internal/fixture/expect"
)

func TestAnotherRecipientKeepsNothingThatIsPermanentlyBlocked(t *testing.T) {
	s := Step{Op: OpMove, Shard: "a", Others: []string{"b", "c"}}
	for _, test := range []struct {
		to      string
		lasting bool
		want    []string
	}{{"b", false, []string{"b", "c", "a"}}, {"c", true, []string{"c", "b"}}} {
		expect.EqualSlices(t, s.To(test.to, test.lasting).Recipients(), test.want, "to %s", test.to)
	}
	expect.EqualSlices(t, s.Others, []string{"b", "c"}, "the step itself changed")
}
