package main

import (
	"encoding/json"
	"strings"
	"time"

	"shardboard/internal/sheet"
)

// csvChanges writes the header once, then each row that is new or has changed since the answer before. What is gone
// is not told: a line of a CSV file can only say what is.
type csvChanges struct {
	*env
	query query
	every time.Duration

	out     sheet.Writer
	columns sheet.Columns
	begun   bool
	rows    map[string]bool // of the last answer
	lost    bool
}

func (c *csvChanges) changed(list *listPage, _ []byte) error {
	if !c.begun {
		c.columns = sheet.ColumnsOf(c.query.item())
		c.out, c.begun = sheet.NewWriter(c.stdout, c.columns.Names()...), true
	}
	next := map[string]bool{}
	for _, item := range list.items {
		if err := c.row(item, next); err != nil {
			return err
		}
	}
	c.rows = next
	return c.out.Flush()
}

// row writes the lines of an item that the last answer did not have.
func (c *csvChanges) row(item json.RawMessage, next map[string]bool) error {
	v, err := decoded(item, c.query.item())
	if err != nil {
		return err
	}
	for _, cells := range c.columns.Rows(v) {
		key := strings.Join(cells, "\x00")
		if next[key] = true; !c.rows[key] {
			c.out.Row(cells...)
		}
	}
	return nil
}

func (c *csvChanges) waits(why string) error {
	c.lost = noteLost(c.env, c.lost, why, c.every)
	return nil
}
