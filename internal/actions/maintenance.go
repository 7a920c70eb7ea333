package actions

import (
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // time zones by name, also where the system has none

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// Maintenance is a weekly window in which the operators of this cluster want it to be
// changed: days, and two times of day in a time zone. The zero value is never open.
// Immutable.
type Maintenance struct {
	text     string
	days     [7]bool // by time.Weekday: the days on which it begins
	from, to int     // minutes of the day; to <= from if it ends on the next day
	zone     *time.Location
}

// String returns the window as it was given, with single spaces.
func (m Maintenance) String() string { return m.text }

// horizon is how far ahead a window is searched. A change of the clocks can skip a weekly
// window; a week later it exists again.
const horizon = 15 * 24 * time.Hour

const maintenanceForm = "write it like “Mon-Fri 01:00-05:00 Europe/Berlin”: days (default all), from-to, time zone (default UTC)"

// ParseMaintenance reads a window such as "Mon-Fri 01:00-05:00 Europe/Berlin",
// "Sat,Sun 22:00-06:00" or "01:00-05:00". A window whose end is earlier in the day than
// its start goes over midnight, and belongs to the day on which it begins.
// Errors are fault.Invalid.
func ParseMaintenance(text string) (Maintenance, error) {
	bad := func(why string) (Maintenance, error) {
		return Maintenance{}, fault.New(fault.Invalid,
			"The maintenance window %q is not usable: %s; %s.", sanitize.Truncate(text, 80), why, maintenanceForm)
	}
	parts := strings.Fields(text)
	m := Maintenance{text: strings.Join(parts, " "), zone: time.UTC}
	if len(parts) > 0 && !strings.Contains(parts[0], ":") {
		if !m.setDays(parts[0]) {
			return bad("its days are not those of a week (Mon, Tue, Wed, Thu, Fri, Sat, Sun)")
		}
		parts = parts[1:]
	} else {
		m.days = [7]bool{true, true, true, true, true, true, true}
	}
	if len(parts) == 0 || len(parts) > 2 {
		return bad("it has no times, or more than days, times and a time zone")
	}
	from, to, _ := strings.Cut(parts[0], "-")
	var ok, both bool
	m.from, ok = minutes(from)
	m.to, both = minutes(to)
	if !ok || !both || m.from == 24*60 {
		return bad("its times are not HH:MM-HH:MM")
	}
	if m.from == m.to {
		return bad("it begins when it ends")
	}
	if len(parts) == 2 {
		zone, err := time.LoadLocation(parts[1])
		if err != nil || parts[1] == "Local" {
			return bad("there is no time zone of that name (they are called Europe/Berlin, America/New_York, UTC)")
		}
		m.zone = zone
	}
	return m, nil
}

var weekdays = [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// setDays reads days and ranges of days, which may cross the end of the week.
func (m *Maintenance) setDays(text string) bool {
	for part := range strings.SplitSeq(strings.ToLower(text), ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		day, end := slices.Index(weekdays[:], first), slices.Index(weekdays[:], last)
		if day < 0 || end < 0 {
			return false
		}
		for ; ; day = (day + 1) % 7 {
			m.days[day] = true
			if day == end {
				break
			}
		}
	}
	return true
}

// minutes reads HH:MM, up to 24:00, as minutes of the day.
func minutes(text string) (int, bool) {
	if len(text) != 5 || text[2] != ':' {
		return 0, false
	}
	h, err := strconv.ParseUint(text[:2], 10, 8)
	m, merr := strconv.ParseUint(text[3:], 10, 8)
	n := int(h)*60 + int(m)
	return n, err == nil && merr == nil && m < 60 && n <= 24*60
}

// Open reports whether a time is inside the window, by local time. An hour that occurs
// twice when the clocks change is inside twice.
func (m Maintenance) Open(at time.Time) bool {
	if m.zone == nil {
		return false
	}
	at = at.In(m.zone)
	day, now := at.Weekday(), at.Hour()*60+at.Minute()
	if m.from < m.to {
		return m.days[day] && m.from <= now && now < m.to
	}
	return m.days[day] && now >= m.from || m.days[(day+6)%7] && now < m.to
}

// change returns the first full minute after at in which the window is open, or closed;
// the zero time if there is none within the horizon. Trying every minute takes a few
// milliseconds at most, and is right across any change of the clocks.
func (m Maintenance) change(at time.Time, open bool) time.Time {
	for t, end := at.Truncate(time.Minute).Add(time.Minute), at.Add(horizon); t.Before(end); t = t.Add(time.Minute) {
		if m.Open(t) == open {
			return t
		}
	}
	return time.Time{}
}

// currentOrNextWindow finds the window that is open now and its end, or the one that
// begins next and its start.
func currentOrNextWindow(windows []Maintenance, now time.Time) (m Maintenance, open bool, at time.Time) {
	for _, w := range windows {
		if w.Open(now) {
			if end := w.change(now, false); !open || end.IsZero() || !at.IsZero() && end.After(at) {
				m, open, at = w, true, end
			}
			continue
		}
		if open {
			continue
		}
		if begin := w.change(now, true); m.zone == nil || !begin.IsZero() && (at.IsZero() || begin.Before(at)) {
			m, at = w, begin
		}
	}
	return m, open, at
}
