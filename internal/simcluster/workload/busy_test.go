package workload

import (
	"testing"
	"time"
)

func TestTheBusyProjectIsBusyForAQuarterOfAnHourFromTimeToTime(t *testing.T) {
	for at, want := range map[time.Duration]bool{
		0:                             false,
		time.Minute - tick:            false,
		time.Minute:                   true,
		16*time.Minute - tick:         true,
		16 * time.Minute:              false,
		17 * time.Minute:              false,
		25*time.Minute - tick:         false,
		25 * time.Minute:              true,
		40*time.Minute - tick:         true,
		40 * time.Minute:              false,
		24*time.Hour + time.Minute:    true,
		24*time.Hour + 16*time.Minute: false,
	} {
		if got := busyAt(at); got != want {
			t.Errorf("busy %v after the start: %v, want %v", at, got, want)
		}
	}
}
