package expr

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func dateArithmeticOperators(name string) parser {
	switch name {
	case "$dateAdd", "$dateSubtract":
		return parseDateMath([]string{"startDate", "unit", "amount", "timezone"}, 3, evalDateAdd)
	case "$dateDiff":
		return parseDateMath([]string{"startDate", "endDate", "unit", "timezone", "startOfWeek"}, 3, evalDateDiff)
	case "$dateTrunc":
		return parseDateMath([]string{"date", "unit", "binSize", "timezone", "startOfWeek"}, 2, evalDateTrunc)
	}
	return nil
}

// parseDateMath reads named operands of which the first n are required; the
// function gets all of them in order, a missing value for those not given.
func parseDateMath(names []string, n int, f function) parser {
	return func(c *compiler, op string, arg bson.RawValue) (node, error) {
		if arg.Type != bson.TypeEmbeddedDocument {
			return nil, status.Errorf(5166400, "%s expects an object as its argument, found: %s", op, TypeName(arg))
		}
		args, err := c.named(arg, names, func(f string) error {
			return status.Errorf(5166401, "Unrecognized argument to %s: %s. Expected arguments are %s", op, f, joined(names))
		})
		if err != nil {
			return nil, err
		}
		for i, a := range args {
			switch {
			case a != nil:
			case i < n:
				return nil, status.Errorf(5166402, "%s requires %s to be present", op, joined(names[:n]))
			case names[i] == "binSize":
				args[i] = constant{value.Int32(1)}
			case names[i] == "timezone":
				args[i] = constant{value.String("UTC")}
			case names[i] == "startOfWeek":
				args[i] = constant{value.String("sunday")}
			}
		}
		return call{op, args, f}, nil
	}
}

func joined(names []string) string {
	s := names[0]
	for i, n := range names[1:] {
		if i == len(names)-2 {
			s += " and " + n
		} else {
			s += ", " + n
		}
	}
	return s
}

func anyNull(args []bson.RawValue) bool {
	for _, v := range args {
		if nullish(v) {
			return true
		}
	}
	return false
}

// unitOf checks a unit's name.
func unitOf(op string, v bson.RawValue) (string, error) {
	if v.Type != bson.TypeString {
		return "", status.Errorf(5439013, "%s requires 'unit' to be a string, but got %s", op, TypeName(v))
	}
	switch s := str(v); s {
	case "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond":
		return s, nil
	default:
		return "", status.Errorf(status.FailedToParse, "unknown time unit value: %s", s)
	}
}

// fixedUnit is the length of the units that have one, else 0.
func fixedUnit(unit string) time.Duration {
	switch unit {
	case "hour":
		return time.Hour
	case "minute":
		return time.Minute
	case "second":
		return time.Second
	case "millisecond":
		return time.Millisecond
	}
	return 0
}

func evalDateAdd(_ *evaluation, op string, args []bson.RawValue) (bson.RawValue, error) {
	if anyNull(args) {
		return value.Null(), nil
	}
	unit, err := unitOf(op, args[1])
	if err != nil {
		return missing(), err
	}
	t, err := dateIn(args[0], args[3])
	if err != nil {
		return missing(), status.Errorf(5166403, "%s requires startDate to be convertible to a date", op)
	}
	n, ok := number(args[2])
	amount, whole := n.exactInt()
	if !ok || !whole {
		return missing(), status.Errorf(5166405, "%s expects integer amount of time units", op)
	}
	if op == "$dateSubtract" {
		amount = -amount
	}
	return dateValue(shift(t, unit, int(amount)).UnixMilli()), nil
}

// shift adds units. Months keep the day where it exists, else take the last day.
func shift(t time.Time, unit string, n int) time.Time {
	if d := fixedUnit(unit); d != 0 {
		return time.UnixMilli(t.UnixMilli() + int64(n)*d.Milliseconds()).In(t.Location())
	}
	switch unit {
	case "day":
		return t.AddDate(0, 0, n)
	case "week":
		return t.AddDate(0, 0, 7*n)
	case "year":
		n *= 12
	case "quarter":
		n *= 3
	}
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}
