package expr

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// evalDateDiff counts the unit boundaries between two dates.
func evalDateDiff(_ *evaluation, op string, args []bson.RawValue) (bson.RawValue, error) {
	if anyNull(args) {
		return value.Null(), nil
	}
	unit, err := unitOf(op, args[2])
	if err != nil {
		return missing(), err
	}
	week, err := weekday(op, args[4])
	if err != nil {
		return missing(), err
	}
	var at [2]int64
	for i := range at {
		t, err := dateIn(args[i], args[3])
		if err != nil {
			return missing(), status.Errorf(5166307, "%s requires '%s' to be a date, but got %s", op,
				[...]string{"startDate", "endDate"}[i], TypeName(args[i]))
		}
		at[i] = ordinal(t, unit, week)
	}
	return value.Int64(at[1] - at[0]), nil
}

// ordinal numbers the units on the time line, in local time; 0 is the one that
// holds the beginning of 2000 (for weeks: the first to begin in it or on it).
func ordinal(t time.Time, unit string, week time.Weekday) int64 {
	switch unit {
	case "year":
		return int64(t.Year() - 2000)
	case "quarter":
		return int64(t.Year()-2000)*4 + int64(t.Month()-1)/3
	case "month":
		return int64(t.Year()-2000)*12 + int64(t.Month()-1)
	}
	_, offset := t.Zone()
	ms := t.UnixMilli() + int64(offset)*1000 - reference
	const day = 24 * 3600 * 1000
	switch unit {
	case "day":
		return floorDiv(ms, day)
	case "week":
		// 1 January 2000 was a Saturday.
		first := int64((week - time.Saturday + 7) % 7)
		return floorDiv(ms-first*day, 7*day)
	}
	return floorDiv(ms, fixedUnit(unit).Milliseconds())
}

// reference is 2000-01-01T00:00:00Z, from which bins are counted.
const reference = 946684800000

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func weekday(op string, v bson.RawValue) (time.Weekday, error) {
	if v.Type == bson.TypeString {
		s := asciiCase(str(v), false)
		for d := time.Sunday; d <= time.Saturday; d++ {
			name := asciiCase(d.String(), false)
			if s == name || s == name[:3] {
				return d, nil
			}
		}
	}
	return 0, status.Errorf(status.FailedToParse, "%s requires 'startOfWeek' to be a day of the week, found: %s", op, Text(v))
}

// evalDateTrunc finds the start of the bin of binSize units that holds a date.
func evalDateTrunc(_ *evaluation, op string, args []bson.RawValue) (bson.RawValue, error) {
	if anyNull(args) {
		return value.Null(), nil
	}
	unit, err := unitOf(op, args[1])
	if err != nil {
		return missing(), err
	}
	t, err := dateIn(args[0], args[3])
	if err != nil {
		return missing(), status.Errorf(5439012, "%s requires 'date' to be a date, but got %s", op, TypeName(args[0]))
	}
	n, ok := number(args[2])
	bin, whole := n.exactInt()
	if !ok || !whole {
		return missing(), status.Errorf(5439017,
			"%s requires 'binSize' to be a 64-bit integer, but got value '%s' of type %s", op, Text(args[2]), TypeName(args[2]))
	}
	if bin <= 0 {
		return missing(), status.Errorf(5439018, "%s requires 'binSize' to be greater than 0, but got value %d", op, bin)
	}
	week, err := weekday(op, args[4])
	if err != nil {
		return missing(), err
	}
	if d := fixedUnit(unit).Milliseconds() * bin; d > 0 && unit != "hour" {
		return dateValue(reference + floorDiv(t.UnixMilli()-reference, d)*d), nil
	}
	start := floorDiv(ordinal(t, unit, week), bin) * bin
	base := time.Date(2000, 1, 1, 0, 0, 0, 0, t.Location())
	switch unit {
	case "hour":
		// Use local time, so that bins begin at local midnight.
		_, offset := t.Zone()
		return dateValue(reference + start*3600*1000 - int64(offset)*1000), nil
	case "week":
		base = base.AddDate(0, 0, int((week-time.Saturday+7)%7))
	}
	return dateValue(shift(base, unit, int(start)).UnixMilli()), nil
}
