<?php

declare(strict_types=1);

namespace Shop\Mail;

use Psr\Log\LoggerInterface;
use Shop\{Order, Customer as Buyer};
use function Shop\helper;
require_once __DIR__ . '/lib/setup.php';

const LIMIT = 10;

/**
 * Sends mails.
 */
#[Service]
final class Mailer extends Base implements \Countable, Sender
{
    use Logs;

    private int $sent = 0;

    /** Sends one. */
    #[Route('/send')]
    public static function send(Order $order, ?string $to = null): self
    {
        if ($to) { return new static($to); } elseif ($order->isPaid()) { helper($order); }
        foreach ($order->rows as $row) { $this->log($row); self::check($row); \strlen('x'); }
        $later = function () use ($to) { return Buyer::find($to); };
        return match (true) { $a => 1, default => 2 };
    }

    abstract protected function close(): void;
}

interface Sender extends Named { public function name(): string; }
trait Logs { public function log($x) { echo $x; } }
enum State: string { case On = 'on'; public function label(): string { return ucfirst($this->value); } }
function helper($order) { return new class extends Order { public function total() { return 1; } }; }
