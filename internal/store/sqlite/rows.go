package sqlite

import (
	"database/sql"
)

// scanner is one row or the current one of many.
type scanner interface{ Scan(dest ...any) error }

// all reads and closes rows.
func all[T any](rows *sql.Rows, err error, scan func(scanner) (T, error)) ([]T, error) {
	return allBut(rows, err, scan, func(error) bool { return false })
}

// allBut is all without the rows whose read error skip accepts.
func allBut[T any](rows *sql.Rows, err error, scan func(scanner) (T, error), skip func(error) bool) ([]T, error) {
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		switch {
		case err == nil:
			out = append(out, v)
		case !skip(err):
			return nil, unavailable(err)
		}
	}
	return out, unavailable(rows.Err())
}

func scanText(row scanner) (s string, err error) {
	err = row.Scan(&s)
	return s, err
}
