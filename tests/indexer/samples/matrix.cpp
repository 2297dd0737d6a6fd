#include <vector>
#include "matrix.h"

using std::vector;

namespace math::dense {

/// A matrix of numbers.
template <typename T>
class Matrix : public Base<T>, private detail::Storage {
public:
    Matrix(int n) : n_(n) { resize(n); }
    ~Matrix();
    Matrix(const Matrix &) = delete;
    T at(int i) const { return data_[i]; }
    bool operator==(const Matrix &o) const { return true; }
    struct Row { int i; };
private:
    int n_;
};

template <typename T>
T *Matrix<T>::find(const T &value) {
    for (auto &x : data_) { if (x == value) return &x; }
    try { std::sort<int>(data_.begin(), data_.end()); } catch (const Error &e) { }
    return new Node<T>(value);
}

}  // namespace math::dense

namespace { int hidden() { return 1; } }

math::dense::Matrix<int>::~Matrix() {}

std::ostream &operator<<(std::ostream &out, const Matrix<int> &m) { return out; }

geo::Point::operator bool() const { return true; }

const geo::Point &geo::Point::origin() { static Point p; return p; }

using Grid = math::dense::Matrix<int>;
enum class Axis { X, Y };
template <typename T> concept Number = true;
extern "C" { void c_entry(void) { run(); } }
typedef std::map<int, Axis> Axes;
typedef const Grid &GridRef;

struct Cell {
    explicit MATH_CONSTEXPR Cell(int n) : value(n) {}
    MATH_CONSTEXPR Cell(const Grid &g) : value(g.size()) {}
};
