package history

import (
	"math/rand/v2"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
)

func TestAPastThatIsPlayedBackIsTheSameAsOneReadAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("records a day of 100,000 chunks")
	}
	db, end := recordDays(t, t.TempDir(), 1)
	played := NewPast(db, nil)
	r := rand.New(rand.NewPCG(5, 6))
	at := end.Add(-20 * time.Hour)
	for step := range 12 {
		if step%4 == 3 {
			at = end.Add(-time.Duration(r.IntN(20)) * time.Hour) // somebody moves the slider
		}
		got, err := played.Table(t.Context(), "c1", at)
		must.Do(t, err)
		want, err := NewPast(db, nil).Table(t.Context(), "c1", at)
		must.Do(t, err)
		if a, b := got.Collections[0], want.Collections[0]; !a.Chunks.Equal(b.Chunks) || a.Highest != b.Highest {
			t.Fatalf("at %s: played back and read at once differ", at)
		}
		at = at.Add(37 * time.Minute)
	}
}
