package workload

import (
	"testing"
	"time"
)

func TestTheBusyProjectIsBusyForAQuarterOfAnHourFromTimeToTime(t *testing.T) {
	for at, want := range map[time.Duration]bool{
		0:                             true,
		15*time.Minute - tick:         true,
		15 * time.Minute:              false,
		24*time.Minute - tick:         false,
		24 * time.Minute:              true,
		39*time.Minute - tick:         true,
		39 * time.Minute:              false,
		24 * time.Hour:                true,
		24*time.Hour + 15*time.Minute: false,
	} {
		if got := busyAt(at); got != want {
			t.Errorf("busy %v after the start: %v, want %v", at, got, want)
		}
	}
}
