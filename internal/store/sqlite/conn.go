package sqlite

import (
	"context"
	"database/sql/driver"
)

// connector opens connections whose failures are told in words: every call of
// database/sql goes through them, so no caller has to know a result code.
type connector struct {
	driver.Connector
	file *file
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, c.file.failed(err)
	}
	in, ok := made.(inner)
	if !ok {
		return made, nil
	}
	return &conn{in, c.file}, nil
}

// inner is what database/sql uses of the driver's connections.
type inner interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type conn struct {
	inner
	file *file
}

// begin is called before each statement.
func (c *conn) begin(statement string) error {
	if c.file.before == nil {
		return nil
	}
	return c.file.failed(c.file.before(statement))
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.begin(query); err != nil {
		return nil, err
	}
	res, err := c.inner.ExecContext(ctx, query, args)
	return res, c.file.failed(err)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.begin(query); err != nil {
		return nil, err
	}
	r, err := c.inner.QueryContext(ctx, query, args)
	if err != nil {
		return nil, c.file.failed(err)
	}
	return &rows{r, c.file}, nil
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.begin("BEGIN"); err != nil {
		return nil, err
	}
	t, err := c.inner.BeginTx(ctx, o)
	if err != nil {
		return nil, c.file.failed(err)
	}
	return &tx{t, c}, nil
}

func (c *conn) Ping(ctx context.Context) error { return c.file.failed(c.inner.Ping(ctx)) }

type tx struct {
	driver.Tx
	conn *conn
}

func (t *tx) Commit() error {
	if err := t.conn.begin("COMMIT"); err != nil {
		_ = t.Tx.Rollback() // as the driver does when a commit fails
		return err
	}
	if err := t.Tx.Commit(); err != nil {
		return t.conn.file.failed(err)
	}
	t.conn.file.worked()
	return nil
}

type rows struct {
	driver.Rows
	file *file
}

func (r *rows) Next(dest []driver.Value) error { return r.file.failed(r.Rows.Next(dest)) }
