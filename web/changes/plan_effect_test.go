package changes

import (
	"testing"

	"shardboard/internal/fixture/expect"
)

func TestManyShardsThatStayAsTheyAreAreFolded(t *testing.T) {
	rows := make([]beforeAfter, 24)
	for i := range rows {
		rows[i].Same = i != 7
	}
	shown, folded := foldSame(rows)
	expect.That(t, len(shown) == 1 && !shown[0].Same && len(folded) == 23, "%d shown, %d folded", len(shown), len(folded))
	for _, few := range [][]beforeAfter{rows[7:9], rows[:7]} { // one changes, one stays; nothing changes
		shown, folded = foldSame(few)
		expect.That(t, len(shown) == len(few) && len(folded) == 0, "%d of %d shown", len(shown), len(few))
	}
}
