// Package stock is what the shop stands on. The change does not touch it.
package stock

import (
	"crypto/rand"
	"errors"
	"math/big"
	"os"
)

const (
	outage = "../../outside/service-is-down"
	lock   = "../../outside/till.lock"
)

// Currency is shared by everything in the process.
var Currency = "EUR"

// Customer is who is logged in.
var Customer string

// Draw is a number from 0 to 9, as random as the machine can make it.
func Draw() int64 {
	number, err := rand.Int(rand.Reader, big.NewInt(10))
	if err != nil {
		panic(err)
	}
	return number.Int64()
}

// Count asks the stock service, which lives outside the project and can be down.
func Count(name string) (int, error) {
	if _, err := os.Stat(outage); err == nil {
		return 0, errors.New("the stock service does not answer")
	}
	return 12, nil
}

// StartBackup takes the till until FinishBackup.
func StartBackup() error {
	return os.WriteFile(lock, nil, 0o644)
}

// FinishBackup gives the till back.
func FinishBackup() {
	os.Remove(lock)
}

// OpenTill fails while the backup job has the till.
func OpenTill() error {
	if _, err := os.Stat(lock); err == nil {
		return errors.New("the till is in use")
	}
	return nil
}
