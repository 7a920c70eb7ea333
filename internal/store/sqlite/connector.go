package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"

	"modernc.org/sqlite"
)

// cacheKiB is the cache of each connection, which it never gives back. The system's own keeps the pages of the file
// too, so a greater one saves little.
const cacheKiB = 256

// connect puts every setting into the DSN, so that each connection of the pool has it.
func (f *file) connect(mode string, connections int, check func() error) (*sql.DB, error) {
	q := url.Values{"mode": {mode}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", f.wait.Milliseconds()),
		fmt.Sprintf("cache_size(-%d)", cacheKiB), "foreign_keys(1)"}}
	if mode != "ro" {
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)", "synchronous(FULL)")
		q.Set("_txlock", "immediate")
	}
	c, err := sqlite.NewConnector("file:" + (&url.URL{Path: f.path}).EscapedPath() + "?" + q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", f.path, err)
	}
	db := sql.OpenDB(connector{c, f, check})
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// connector opens connections that turn errors into sentences for people. Every call of
// database/sql goes through them, so no caller needs result codes. A connection is opened only
// while the path still leads to the files that are open already: otherwise it would read another
// store and mix its users and sessions with ours.
type connector struct {
	driver.Connector
	file  *file
	check func() error
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, c.file.failed(err)
	}
	if err := c.check(); err != nil {
		return nil, errors.Join(err, made.Close())
	}
	in, ok := made.(inner)
	if !ok {
		return made, nil
	}
	return &conn{in, c.file}, nil
}

// inner is the part of the driver's connections that database/sql uses.
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

// before is called before each statement.
func (c *conn) before(statement string) error {
	if c.file.before == nil {
		return nil
	}
	return c.file.failed(c.file.before(statement))
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.before(query); err != nil {
		return nil, err
	}
	res, err := c.inner.ExecContext(ctx, query, args)
	return res, c.file.failed(err)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.before(query); err != nil {
		return nil, err
	}
	r, err := c.inner.QueryContext(ctx, query, args)
	if err != nil {
		return nil, c.file.failed(err)
	}
	if c.file.readOnly { // the first row was read
		c.file.worked()
	}
	return &rows{r, c.file}, nil
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.before("BEGIN"); err != nil {
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
	if err := t.conn.before("COMMIT"); err != nil {
		_ = t.Tx.Rollback() // like the driver when a commit fails
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
