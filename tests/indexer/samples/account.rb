# frozen_string_literal: true

require 'json'
require_relative "lib/owner"

# Money and who owns it.
module Bank
  LIMIT = 10

  # An account.
  class Account < Base::Record
    include Comparable
    attr_reader :balance

    # Opens one.
    def self.open(owner, amount: 0)
      new(owner).tap { |a| a.deposit(amount) }
    end

    # Pays in.
    def deposit(amount)
      if amount > 0
        @ledger.add(amount)
      elsif amount.zero?
        return
      end
      until done? do step end
      puts "x" unless quiet
    rescue ArgumentError => e
      log&.warn(e)
    end

    class << self
      def build; end
    end

    def ==(other)
      id == other.id
    end

    private def secret = 42
  end

  class Vault::Branch; end
end

Point = Struct.new(:x, :y) do
  def norm
    Math.sqrt(x)
  end
end

Line = Struct.new(:from) { def length = 1 }
