package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func heatPictures(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("HeatColumnsAreReplacedAndForgottenInOneStep", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		column := func(picture string, minute int, step time.Duration, body string) store.HeatColumn {
			return store.HeatColumn{Picture: picture, At: at.Add(time.Duration(minute) * time.Minute), Step: step, Axis: 1, Body: []byte(body)}
		}
		axis := store.HeatAxis{Picture: "a", ID: 1, Body: []byte{0, 255}}
		must.Do(t, s.SaveHeat(ctx, "c", store.HeatChange{Axes: []store.HeatAxis{axis, {Picture: "b", ID: 1, Body: []byte("x")}},
			Columns: []store.HeatColumn{column("a", 1, time.Minute, "2"), column("a", 0, time.Minute, "1"), column("b", 0, time.Minute, "9")}}))
		must.Do(t, s.SaveHeat(ctx, "other", store.HeatChange{Columns: []store.HeatColumn{column("a", 0, time.Minute, "theirs")}}))
		must.Do(t, s.SaveHeat(ctx, "c", store.HeatChange{
			Columns:      []store.HeatColumn{column("a", 0, 5*time.Minute, "12"), column("a", 1, time.Minute, "new")},
			GoneColumns:  []store.HeatColumn{column("a", 0, time.Minute, "")},
			GonePictures: []string{"b"},
		}))
		axes, columns, err := s.LoadHeat(ctx, "c")
		must.Do(t, err)
		want := []store.HeatColumn{column("a", 0, 5*time.Minute, "12"), column("a", 1, time.Minute, "new")}
		if d := cmp.Diff(want, columns); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]store.HeatAxis{axis}, axes); d != "" {
			t.Error(d)
		}
		must.Do(t, s.SaveHeat(ctx, "c", store.HeatChange{GoneAxes: []store.HeatAxis{{Picture: "a", ID: 1}}}))
		if axes, _, err = s.LoadHeat(ctx, "c"); err != nil || len(axes) != 0 {
			t.Errorf("%v, %v", axes, err)
		}
		if _, theirs, err := s.LoadHeat(ctx, "other"); err != nil || len(theirs) != 1 || string(theirs[0].Body) != "theirs" {
			t.Errorf("another cluster's: %v, %v", theirs, err)
		}
	})
}
