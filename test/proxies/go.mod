module shardboard/test/proxies

go 1.26.8

require shardboard/test/process v0.0.0

replace shardboard/test/process => ../process
