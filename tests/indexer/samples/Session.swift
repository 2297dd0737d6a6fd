// Copyright.
import Foundation
@testable import Network
import class UIKit.UIView

let limit = 10

/// A session of requests.
@MainActor
public final class Session<T>: Base<T>, Codable where T: Hashable {
    private let retries = 1
    var total: Int { retries + limit }

    public init(retries: Int) { self.start(retries) }
    deinit { close() }
    subscript(at: Int) -> Int { get { at } }

    /// Sends one.
    @discardableResult
    public func send<U: Body>(_ body: U, to url: URL) async throws -> Int where U: Sized {
        guard let open = connection else { return 1 }
        if body.isEmpty { log.warn(body) }
        for i in 0..<1 { open?.write(i) }
        func twice(_ n: Int) -> Int { n * 2 }
        return twice(1)
    }

    static func == (a: Session, b: Session) -> Bool { true }
    enum State: String { case open, done; func isOpen() -> Bool { true } }
}

protocol Sender: AnyObject { func send() -> String }
struct Point { var x: Int }
extension Session: Sender { func send() -> String { "x" } }
actor Pool { func take() {} }
typealias Handler = (Int) -> Void
func free(session: Session<Int>) { session.send() }

extension Session.State {
    #if os(macOS)
    func close() {}
    #else
    func reopen() {}
    #endif
}
