// Licensed to Bank.
using System;
using System.Collections.Generic;
using static System.Math;
using Rows = Bank.Storage.RowSet;

namespace Bank.Core
{
    /// <summary>
    /// A ledger of <see cref="T:Bank.Entry"/>.
    /// </summary>
    /// <remarks>Kept in Redis.</remarks>
    [Serializable]
    public sealed class Ledger<T> : Book<T>, IDisposable where T : class
    {
        private readonly int _limit = 10;

        public Ledger(int limit) : base(limit) { _limit = limit; }

        /// <summary>Pays in.</summary>
        [Audited, Obsolete("x")]
        public async Task<int> Deposit<U>(decimal amount, U by) where U : new()
        {
            if (amount > 0) { this.Log(amount); }
            foreach (var row in _rows.Load<Row>()) { row?.Touch(); }
            int Twice(int n) => n * 2;
            return await Task.FromResult(Twice(1)) switch { 1 => 2, _ => new Entry(3).Id };
        }

        public int Balance { get; set; }
        public int Total => Sum(_limit);
        public string Name { get { return Load(); } }
        public int this[int at] => at;
        public static Ledger<T> operator +(Ledger<T> a, Ledger<T> b) => a;
        void IDisposable.Dispose() { }
        public enum Currency { Eur, Usd }
        public delegate void Handler(object sender);
    }

    public interface IOwner : INamed { string Owner(); }
    public readonly struct Point { public readonly int X; }
    public record Line(int From, int To);
}
