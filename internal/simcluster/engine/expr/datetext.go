package expr

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func dateTextOperators(name string) parser {
	switch name {
	case "$dateToString":
		return parseDateToString
	case "$dateFromString":
		return parseDateFromString
	}
	return nil
}

// dateToString holds date, format, timezone, onNull; only date is never nil.
type dateToString [4]node

func parseDateToString(c *compiler, op string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(18629, "%s only supports an object as its argument", op)
	}
	args, err := c.named(arg, []string{"date", "format", "timezone", "onNull"}, func(f string) error {
		return status.Errorf(18534, "Unrecognized argument to %s: %s", op, f)
	})
	if err != nil {
		return nil, err
	}
	if args[0] == nil {
		return nil, status.Errorf(18628, "Missing 'date' parameter to %s", op)
	}
	return dateToString(args), nil
}

func (n dateToString) eval(c *evaluation) (bson.RawValue, error) {
	date, err := n[0].eval(c)
	if err != nil {
		return date, err
	}
	format := "%Y-%m-%dT%H:%M:%S.%LZ"
	if v, given, err := c.optional(n[1]); err != nil {
		return v, err
	} else if given {
		switch {
		case nullish(v):
			return value.Null(), nil
		case v.Type != bson.TypeString:
			return missing(), status.Errorf(18533, "$dateToString requires that 'format' be a string, found: %s with value %s", TypeName(v), Text(v))
		}
		format = str(v)
	}
	zone, given, err := c.optional(n[2])
	switch {
	case err != nil:
		return zone, err
	case given && nullish(zone):
		return value.Null(), nil
	case given && n[1] == nil && str(zone) != "UTC":
		format = "%Y-%m-%dT%H:%M:%S.%L"
	}
	if nullish(date) {
		v, given, err := c.optional(n[3])
		if !given {
			v = value.Null()
		}
		return v, err
	}
	t, err := dateIn(date, zone)
	if err != nil {
		return missing(), err
	}
	s, err := formatDate(format, t)
	return value.String(s), err
}

func formatDate(format string, t time.Time) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		if i == len(format) {
			return "", status.Errorf(18535, "Unmatched '%%' at end of format string")
		}
		_, offset := t.Zone()
		isoYear, isoWeek := t.ISOWeek()
		switch format[i] {
		case '%':
			b.WriteByte('%')
		case 'Y':
			if t.Year() < 0 || t.Year() > 9999 {
				return "", status.Errorf(18537,
					"Could not convert date to string: date component was outside the supported range of 0-9999: %d", t.Year())
			}
			fmt.Fprintf(&b, "%04d", t.Year())
		case 'm':
			fmt.Fprintf(&b, "%02d", int(t.Month()))
		case 'd':
			fmt.Fprintf(&b, "%02d", t.Day())
		case 'H':
			fmt.Fprintf(&b, "%02d", t.Hour())
		case 'M':
			fmt.Fprintf(&b, "%02d", t.Minute())
		case 'S':
			fmt.Fprintf(&b, "%02d", t.Second())
		case 'L':
			fmt.Fprintf(&b, "%03d", t.Nanosecond()/1e6)
		case 'j':
			fmt.Fprintf(&b, "%03d", t.YearDay())
		case 'w':
			fmt.Fprintf(&b, "%d", datePart("$dayOfWeek", t))
		case 'u':
			fmt.Fprintf(&b, "%d", datePart("$isoDayOfWeek", t))
		case 'U':
			fmt.Fprintf(&b, "%02d", datePart("$week", t))
		case 'V':
			fmt.Fprintf(&b, "%02d", isoWeek)
		case 'G':
			fmt.Fprintf(&b, "%04d", isoYear)
		case 'z':
			b.WriteString(t.Format("-0700"))
		case 'Z':
			fmt.Fprintf(&b, "%d", offset/60)
		default:
			return "", status.Errorf(18536, "Invalid format character '%%%c' in format string", format[i])
		}
	}
	return b.String(), nil
}
